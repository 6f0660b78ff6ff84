#include "experiment/plan/plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/refusal.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/launched_ranks.hpp>

#include "experiment/plan/setting_json.hpp"
#include "external/backend.hpp"
#include "fit/fit_warnings.hpp"
#include "json/parameters_json.hpp"
#include "machine/processors/affinity.hpp"
#include "options/centroids_file.hpp"
#include "output/output.hpp"
#include "text/numbers.hpp"

namespace lloyd::experiment {
namespace {

namespace fs = std::filesystem;

ProblemShape shape_of(const DatasetFacts& dataset, std::int64_t clusters) {
  ProblemShape shape;
  shape.samples = dataset.samples;
  shape.features = dataset.features;
  shape.stride = dataset.stride;
  shape.clusters = clusters;
  shape.dtype = dataset.dtype;
  return shape;
}

// The size of a fit's results: labels, counts and centroids, twice if restarts are compared.
std::int64_t result_bytes(const DatasetFacts& dataset, const FitOptions& options) {
  const std::int64_t one = dataset.samples * 4 + options.clusters * (dataset.features * 8 + 8);
  return options.restarts > 1 ? 2 * one : one;
}

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 62;  // beyond any machine

// The size of the initial centroids of all restarts. With a separate process there are three
// copies: in this process, in shared memory, and in that process.
std::int64_t starts_bytes(const DatasetFacts& dataset, const FitOptions& options,
                          const Isolation& isolation) {
  const std::int64_t copies = isolation.mode == IsolateMode::none ? 1 : 3;
  const std::int64_t one = options.clusters * dataset.features * 8;
  std::int64_t all = 0;
  if (__builtin_mul_overflow(one, copies * options.restarts, &all)) return kMaxBytes;
  return std::min(all, kMaxBytes);
}

// Why no trial can be started on ranks; empty if trials can.
std::string launch_problem(const Launch& launch, const std::vector<fs::path>& plugin_folders) {
  if (launch.ranks.empty()) return {};
  if (find_launcher(launch).empty()) {
    return fmt::format(
        "the launcher '{}' is not an executable program, or not in PATH; set 'launcher' "
        "to another one",
        launcher_words(launch, 1).front());
  }
  std::vector<RefusedPlugin> refused;
  if (!find_communicators(plugin_folders, &refused).empty()) return {};
  return fmt::format(
      "this lloyd has no plugin for MPI (lloyd-communicator-mpi.so), which ranks need; build it "
      "where MPI is installed{}{}",
      refused.empty() ? "" : "; ", refused.empty() ? "" : refused.front().reason);
}

// Why this fit cannot run on ranks; empty if it can. `unlaunched`: launch_problem().
std::string rank_problem(const PlannedSetting& setting, const Variant& variant,
                         const std::string& unlaunched) {
  if (variant.ranks == 0) return {};
  if (!unlaunched.empty()) return unlaunched;
  if (external::is_program(variant.backend->path())) {
    return "an external program cannot run on ranks";
  }
  return setting.setting.cold_l2 ? "'cold_l2' cannot be used on ranks" : std::string();
}

// The message of an error without the name of the backend: the fit's record and lines have it.
std::string reason_of(const BackendError& error, const LoadedBackend& backend) {
  const std::string_view text = error.what();
  const std::string name = backend.name() + ": ";
  return std::string(text.starts_with(name) ? text.substr(name.size()) : text);
}

void plan_fit(PlannedFit& fit, const PlannedSetting& setting, const Variant& variant,
              const Isolation& isolation, const Machine& machine, const std::string& unlaunched) {
  if (variant.backend == nullptr) {
    fit.skip = "no plugin of this name can be loaded";
    return;
  }
  fit.skip = rank_problem(setting, variant, unlaunched);
  if (!fit.skip.empty()) return;
  const LoadedBackend& backend = *variant.backend;
  const DatasetFacts& dataset = setting.dataset;
  const FitOptions& options = setting.setting.options;
  if (!backend.available()) {
    fit.skip = backend.unavailable();
    return;
  }
  const ProblemShape shape = shape_of(dataset, options.clusters);
  // The variance is unknown before the data is generated; no limit depends on the tolerance.
  const FitSpec spec = make_spec(options, 1.0);
  MemoryEstimate memory;
  try {
    fit.skip =
        unsupported_reason(backend, shape, dataset.required_capabilities, variant.parameters, spec);
    if (!fit.skip.empty()) return;
    memory = estimate_memory(backend, shape, variant.parameters, spec);
  } catch (const BackendError& error) {
    fit.skip = reason_of(error, backend);
    fit.failed = !is_refusal(error.code());
    return;
  }
  for (const std::int64_t bytes : {dataset.bytes(), result_bytes(dataset, options),
                                   starts_bytes(dataset, options, isolation)}) {
    memory.host_bytes =
        bytes < kMaxBytes - memory.host_bytes ? memory.host_bytes + bytes : kMaxBytes;
  }
  if (machine.memory_bytes > 0 && memory.host_bytes > machine.memory_bytes) {
    fit.skip = fmt::format("needs {} of memory, the machine has {}",
                           format_bytes(memory.host_bytes), format_bytes(machine.memory_bytes));
    return;
  }
  // The ranks of this machine hold the data set once more.
  if (variant.ranks > 0)
    memory.host_bytes += std::min(dataset.bytes(), kMaxBytes - memory.host_bytes);
  // A mapped file is passed on without a copy.
  const bool copied = isolation.mode != IsolateMode::none &&
                      (setting.setting.dataset.blobs ||
                       find_format(setting.setting.dataset.file) != FileFormat::npy);
  if (copied && machine.memory_bytes > 0 && dataset.bytes() > machine.memory_bytes / 2) {
    fit.skip = fmt::format(
        "its data set takes {}, twice while it is handed to a process of its own, and the machine "
        "has {}; 'isolate: none' would run it",
        format_bytes(dataset.bytes()), format_bytes(machine.memory_bytes));
    return;
  }
  if (isolation.memory_limit && memory.host_bytes > *isolation.memory_limit) {
    fit.skip = fmt::format("needs {} of memory, 'memory_limit' is {}",
                           format_bytes(memory.host_bytes), format_bytes(*isolation.memory_limit));
    return;
  }
  std::int64_t device_memory = 0;
  for (const DeviceInfo& device : backend.devices()) {
    device_memory = std::max(device_memory, device.memory_bytes);
  }
  if (device_memory > 0 && memory.device_bytes > device_memory) {
    fit.skip = fmt::format("needs {} of device memory, the device has {}",
                           format_bytes(memory.device_bytes), format_bytes(device_memory));
    return;
  }
  fit.memory = memory;
}

// Reads each seeding file once.
class CentroidFiles {
 public:
  void read(Setting& setting, const DatasetFacts& dataset) {
    Seeding& seeding = setting.options.seeding;
    if (seeding.method != SeedingMethod::file) return;
    auto known = files_.find(seeding.file);
    if (known == files_.end()) {
      try {
        known = files_.emplace(seeding.file, apps::read_centroids(seeding.file, {})).first;
      } catch (const InputError& error) {
        setting.seeding_place.fail(error.what());
      }
    }
    const apps::CentroidsFile& file = known->second;
    if (file.clusters != setting.options.clusters || file.features != dataset.features) {
      setting.seeding_place.fail(
          fmt::format("{}, but {} of {} are needed",
                      apps::centroids_text(seeding.file, file.clusters, file.features),
                      format_count(setting.options.clusters, "centroid"),
                      format_count(dataset.features, "feature")));
    }
    check_names(setting, file.feature_names, dataset);
    seeding.centroids = file.centroids;
    if (dataset.standardization) {
      seeding.centroids = dataset.standardization->apply(std::move(seeding.centroids));
    }
  }

 private:
  // Features are matched by position, so if both have names, these must agree.
  static void check_names(const Setting& setting, const std::vector<std::string>& names,
                          const DatasetFacts& dataset) {
    const std::vector<std::string>& features = dataset.feature_names;
    if (names.size() != features.size()) return;
    const auto [given, needed] = std::mismatch(names.begin(), names.end(), features.begin());
    if (given == names.end()) return;
    setting.seeding_place.fail(fmt::format("column {} of {} is '{}', but feature {} of {} is '{}'",
                                           given - names.begin(), setting.options.seeding.file,
                                           shown(*given), needed - features.begin(), dataset.name,
                                           shown(*needed)));
  }

  std::map<std::string, apps::CentroidsFile> files_;
};

void check_sizes(const Setting& setting, const DatasetFacts& dataset) {
  const std::int64_t clusters = setting.options.clusters;
  if (clusters > dataset.samples) {
    setting.clusters_place.fail(fmt::format("'clusters' is {}, but {} has {}", clusters,
                                            dataset.name, format_count(dataset.samples, "sample")));
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(clusters, dataset.features * 32, &bytes)) {
    setting.clusters_place.fail(fmt::format("{} of {} overflow 64-bit sizes",
                                            format_count(clusters, "cluster"),
                                            format_count(dataset.features, "feature")));
  }
}

}  // namespace

std::string hash_with_repeats(const Plan& plan, std::int64_t repeats) {
  nlohmann::ordered_json definition = {
      {"repeats", repeats}, {"until", until_json(plan.until)}, {"order_seed", plan.order_seed}};
  if (plan.baseline) definition["baseline"] = plan.variants[*plan.baseline].label;
  for (const PlannedSetting& setting : plan.settings) {
    definition["settings"].push_back(setting.hash);
  }
  for (const Variant& variant : plan.variants) {
    const bool missing = variant.backend == nullptr;
    definition["variants"].push_back({variant.label, missing ? "" : variant.backend->version(),
                                      variant.parameters_known()
                                          ? apps::parameters_json(variant.parameters)
                                          : nlohmann::ordered_json(variant.given)});
    // Absent by default: the hash is that of earlier versions.
    if (variant.ranks > 0) definition["variants"].back().push_back(variant.ranks);
  }
  if (!plan.launch.ranks.empty()) definition["launcher"] = plan.launch.launcher;
  return hash_json(definition);
}

std::int64_t Plan::trials() const {
  return (static_cast<std::int64_t>(fits.size()) - skipped()) * repeats;
}

std::int64_t Plan::skipped() const {
  return std::count_if(fits.begin(), fits.end(),
                       [](const PlannedFit& fit) { return !fit.skip.empty(); });
}

Plan make_plan(const Experiment& experiment, const BackendLoader& load, DatasetCache& datasets,
               const Machine& machine, const PlanProgress& progress,
               const std::vector<fs::path>& plugin_folders) {
  Plan plan;
  plan.experiment = experiment.name;
  plan.output = experiment.output;
  plan.repeats = experiment.repeats;
  plan.until = experiment.until;
  plan.order_seed = experiment.order_seed;
  plan.checks = experiment.checks;
  plan.silhouette = experiment.silhouette;
  plan.counters = experiment.counters;
  plan.repeat_throttled = experiment.repeat_throttled;
  plan.isolation = experiment.isolation;
  plan.launch = experiment.launch;
  plan.plugin_folders = plugin_folders;
  check_processors(plan.isolation, machine::processors_at_start());
  plan.trace = experiment.trace;
  plan.variants = make_variants(experiment.backends, load, experiment.launch.ranks);
  if (experiment.baseline) plan.baseline = find_baseline(*experiment.baseline, plan.variants);

  const std::size_t pairs = experiment.settings.size() * plan.variants.size();
  if (pairs > kMaxFits) {
    throw InputError(
        fmt::format("the experiment has {} x {} of backends = {} pairs; at most {} are allowed: "
                    "sweep over fewer values, or divide it into several experiments",
                    format_count(experiment.settings.size(), "setting"),
                    format_count(plan.variants.size(), "variant"), pairs, kMaxFits));
  }
  CentroidFiles centroid_files;
  std::set<std::string> warned;
  for (const Setting& setting : experiment.settings) {
    const Seeding& seeding = setting.options.seeding;
    const std::string source = seeding.file.empty() ? "'seeding: first'" : seeding.file;
    for (const std::string& text : apps::restart_warnings(setting.options, "'restarts'", source)) {
      if (warned.insert(text).second) apps::note_warnings({text});
    }
    PlannedSetting planned{setting, datasets.facts(setting.dataset), {}};
    check_sizes(setting, planned.dataset);
    centroid_files.read(planned.setting, planned.dataset);
    planned.hash = hash_setting(planned.setting, planned.dataset);
    plan.settings.push_back(std::move(planned));
  }
  const ReferenceIndex references(experiment.references);
  const std::string unlaunched = launch_problem(plan.launch, plugin_folders);
  for (std::size_t s = 0; s < plan.settings.size(); ++s) {
    for (std::size_t v = 0; v < plan.variants.size(); ++v) {
      plan.fits.push_back({s, v, {}, {}, {}, false});
      plan.fits.back().published =
          references.published_of(plan.settings[s].setting, plan.variants[v], plan.baseline == v);
      plan_fit(plan.fits.back(), plan.settings[s], plan.variants[v], plan.isolation, machine,
               unlaunched);
      if (progress) progress(std::ssize(plan.fits), static_cast<std::int64_t>(pairs));
    }
  }
  plan.hash = hash_with_repeats(plan, plan.repeats);
  return plan;
}

std::vector<std::string> missing_backends(const Plan& plan) {
  std::vector<std::string> lines;
  std::set<std::string> names;
  for (const Variant& variant : plan.variants) {
    if (variant.backend != nullptr || !names.insert(variant.name).second) continue;
    lines.push_back(fmt::format("{} is optional and skipped: {}", variant.name, variant.missing));
  }
  return lines;
}

void require_all(const Plan& plan) {
  for (const PlannedFit& fit : plan.fits) {
    if (fit.skip.empty()) continue;
    throw InputError(fmt::format("{} of {} fits would be skipped, and --require forbids it: {}: {}",
                                 plan.skipped(), plan.fits.size(), plan.variants[fit.variant].label,
                                 fit.skip));
  }
}

}  // namespace lloyd::experiment
