#include "experiment/record/fit_digest.hpp"

#include <algorithm>
#include <cmath>

namespace lloyd::experiment {
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
  }
  own_threads = std::max({record.machine.cores, record.machine.physical_cores,
                          record.process ? record.process->threads : std::int64_t{0}});
  if (record.conditions) {
    has_conditions = true;
    load = record.conditions->before.load;
    cpu_mhz = record.conditions->after.cpu_mhz;
    rare.gpu = record.conditions->gpu;
  }
  if (!rare.reason.empty() || rare.gpu || rare.counters || rare.phases.assignment_ms >= 0) {
    extras = std::make_shared<const Extras>(std::move(rare));
  }
}

const std::string& TrialDigest::reason() const {
  static const std::string none;
  return extras ? extras->reason : none;
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
      dataset(first.dataset.name),
      samples(first.dataset.samples),
      features(first.dataset.features),
      dtype(first.dataset.dtype),
      clusters(first.clusters),
      seed(seed_of(first)),
      restarts(first.restarts),
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
