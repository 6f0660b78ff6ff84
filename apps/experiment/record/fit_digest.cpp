#include "experiment/record/fit_digest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "text/names.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

namespace {

// True if the backend evaluated fewer than samples x clusters distances in an iteration or the
// closing assignment: it skips some, so its times per iteration are not comparable with others. An
// external program that does not report how many may skip some.
bool skips_distances(const Record& record) {
  const Measurements& fit = *record.fit;
  const double all = static_cast<double>(record.dataset.samples) *
                     static_cast<double>(record.clusters) * static_cast<double>(fit.iterations + 1);
  return static_cast<double>(fit.distances) < all;
}

std::optional<std::uint64_t> seed_of(const Record& record) {
  const std::string& method = record.seeding.method;
  if (method == to_string(SeedingMethod::file) || method == to_string(SeedingMethod::first)) {
    return std::nullopt;
  }
  return record.seeding.seed;
}

bool counts(const Record& record) {
  return record.status == TrialStatus::ok && record.fit.has_value();
}

// The settings of a list that differ from their defaults.
struct ChangeCollector {
  std::vector<ChangedSetting> changes;

  void add(std::string path, ordered_json value, ordered_json usual) {
    if (value == usual) return;
    changes.push_back({std::move(path), std::move(value), std::move(usual)});
  }
};

void add_source(const ordered_json& source, ChangeCollector& collector) {
  if (!source.is_object()) return;
  const BlobsSpec spec;
  const ordered_json blobs_defaults = {
      {"centers", spec.centers}, {"std", spec.std}, {"box", spec.box}, {"seed", spec.seed}};
  const ordered_json defaults = {{"drop_missing", false},
                                 {"decimal_comma", false},
                                 {"shuffle", false},
                                 {"standardize", false},
                                 {"seed", 0}};
  for (const auto& [key, value] : source.items()) {
    if (key == "file") continue;
    if (key != "blobs") {
      collector.add("dataset." + key, value, defaults.value(key, ordered_json(nullptr)));
      continue;
    }
    if (!value.is_object()) continue;
    for (const auto& [name, part] : value.items()) {
      if (!blobs_defaults.contains(name)) continue;  // sizes
      collector.add("dataset.blobs." + name, part, blobs_defaults[name]);
    }
  }
}

}  // namespace

TrialDigest::TrialDigest(const Record& record) : status(record.status), repeat(record.repeat) {
  Extras rare;
  rare.reason = record.reason;
  if (record.fit) {
    measured = true;
    skips_distances = experiment::skips_distances(record);
    iterations = record.fit->iterations;
    inertia = record.fit->inertia;
    loop_ms = record.fit->loop_ms;
    closing_ms = record.fit->closing_ms;
    fit_ms = record.fit->fit_ms;
    rare.phases = record.fit->phases;
    rare.counters = record.fit->counters;
    rare.clusters_empty = record.fit->clusters_empty.value_or(0);
  }
  own_threads = std::max({record.machine.cores, record.machine.physical_cores,
                          record.process ? record.process->threads : std::int64_t{0}});
  if (record.conditions) {
    has_conditions = true;
    load = record.conditions->before.load;
    cpu_mhz = record.conditions->after.cpu_mhz;
    rare.gpu = record.conditions->gpu;
  }
  if (!rare.reason.empty() || rare.gpu || rare.counters || rare.phases.assignment_ms >= 0 ||
      rare.clusters_empty > 0) {
    extras = std::make_shared<const Extras>(std::move(rare));
  }
}

const std::string& TrialDigest::reason() const {
  static const std::string none;
  return extras ? extras->reason : none;
}

std::vector<ChangedSetting> changed_settings(const Record& record) {
  const FitOptions usual;
  ChangeCollector collector;
  add_source(record.dataset.source, collector);
  if (!record.dataset.dtype.empty())
    collector.add("dataset.dtype", record.dataset.dtype, "float32");
  if (!record.seeding.method.empty()) {
    collector.add("seeding.method", record.seeding.method, to_string(usual.seeding.method));
  }
  if (!record.seeding.file.empty()) collector.add("seeding.file", record.seeding.file, nullptr);
  if (record.seeding.oversampling) {
    collector.add("seeding.oversampling", *record.seeding.oversampling, usual.seeding.oversampling);
  }
  if (record.seeding.rounds) {
    collector.add("seeding.rounds", *record.seeding.rounds, usual.seeding.rounds);
  }
  collector.add("restarts", record.restarts, usual.restarts);
  const ordered_json stops = {{"max_iterations", usual.max_iterations},
                              {"tolerance", usual.tolerance}};
  if (record.stop.is_object()) {
    for (const auto& [key, value] : record.stop.items()) {
      collector.add("stop." + key, value, stops.value(key, ordered_json(nullptr)));
    }
  }
  if (!record.empty_clusters.empty()) {
    collector.add("empty_clusters", record.empty_clusters, apps::to_string(usual.empty_clusters));
  }
  collector.add("profile", record.profile, false);
  collector.add("cold_l2", record.cold_l2, false);
  return std::move(collector.changes);
}

FitDigest::FitDigest(const Record& first)
    : experiment(first.experiment),
      setting(first.setting),
      plan_setting(first.plan.setting),
      repeats(first.plan.repeats),
      until(first.plan.until.has_value()),
      baseline(first.plan.baseline),
      axes(first.axes),
      backend(first.backend.label),
      accuracy(first.backend.accuracy),
      canonical(first.backend.reproducibility == apps::to_string(Reproducibility::canonical)),
      dataset(first.dataset.name),
      samples(first.dataset.samples),
      features(first.dataset.features),
      dtype(first.dataset.dtype),
      clusters(first.clusters),
      seed(seed_of(first)),
      restarts(first.restarts),
      changed(changed_settings(first)),
      ranks(first.ranks),
      published(first.published),
      cpu(first.machine.cpu),
      commit(first.machine.commit),
      time(first.time) {}

FitDigest::FitDigest(const std::vector<Record>& records) : FitDigest(records.front()) {
  trials.reserve(records.size());
  for (const Record& record : records) {
    note(record);
    trials.emplace_back(record);
  }
}

void FitDigest::note(const Record& record) {
  repeats = std::max(repeats, record.plan.repeats);
  if (!counts(record)) return;
  if (record.after_one) after_one = record.after_one;
  const Measurements& fit = *record.fit;
  if (std::isfinite(fit.adjusted_rand_index)) adjusted_rand_index = fit.adjusted_rand_index;
  if (std::isfinite(fit.simplified_silhouette)) simplified_silhouette = fit.simplified_silhouette;
}

std::vector<FitDigest> digests_of(const std::vector<std::vector<Record>>& records) {
  std::vector<FitDigest> digests;
  digests.reserve(records.size());
  for (const std::vector<Record>& fit : records) digests.emplace_back(fit);
  return digests;
}

}  // namespace lloyd::experiment
