#include "experiment/plan.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>

#include "experiment/numbers.hpp"
#include "experiment/setting_json.hpp"

namespace lloyd::experiment {
namespace {

ProblemShape shape_of(const DatasetFacts& dataset, std::int64_t clusters) {
  ProblemShape shape;
  shape.samples = dataset.samples;
  shape.features = dataset.features;
  shape.stride = dataset.stride;
  shape.clusters = clusters;
  shape.dtype = dataset.dtype;
  return shape;
}

// The specification as far as it is known before the data is made.
FitSpec spec_of(const FitOptions& options) {
  FitSpec spec;
  spec.clusters = options.clusters;
  spec.max_iterations = options.max_iterations;
  spec.tolerance = options.tolerance;
  spec.stop_rule = options.fixed_iterations ? StopRule::fixed : StopRule::converge;
  spec.empty_clusters = options.empty_clusters;
  spec.profile = options.profile ? 1 : 0;
  return spec;
}

std::string message_of(const Status& status) {
  return std::string(status.message, strnlen(status.message, sizeof(status.message)));
}

// What the results of a fit take: labels, counts and centroids, twice while restarts are compared.
std::int64_t result_bytes(const DatasetFacts& dataset, const FitOptions& options) {
  const std::int64_t one = dataset.samples * 4 + options.clusters * (dataset.features * 8 + 8);
  return options.restarts > 1 ? 2 * one : one;
}

void plan_fit(PlannedFit& fit, const PlannedSetting& setting, const Variant& variant,
              const Machine& machine) {
  const LoadedBackend& backend = *variant.backend;
  const DatasetFacts& dataset = setting.dataset;
  const FitOptions& options = setting.setting.options;
  if (!backend.available()) {
    fit.skip = backend.unavailable();
    return;
  }
  if ((dataset.required_features & ~backend.info().features) != 0) {
    fit.skip = fmt::format("does not support {} data{}",
                           dataset.dtype == DType::float32 ? "float32" : "float64",
                           dataset.stride > dataset.features ? " with a stride" : "");
    return;
  }
  const ProblemShape shape = shape_of(dataset, options.clusters);
  const FitSpec spec = spec_of(options);
  const ParameterList parameters = variant.parameters.list();
  Status status = backend.backend().supports(shape, parameters, spec);
  MemoryEstimate memory;
  if (status.ok()) status = backend.backend().estimate(shape, parameters, spec, memory);
  if (!status.ok()) {
    fit.skip = message_of(status);
    return;
  }
  memory.host_bytes += dataset.bytes() + result_bytes(dataset, options);
  if (machine.memory_bytes > 0 && memory.host_bytes > machine.memory_bytes) {
    fit.skip = fmt::format("needs {} of memory, the machine has {}",
                           format_bytes(memory.host_bytes), format_bytes(machine.memory_bytes));
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
      CsvOptions csv;
      csv.dtype = DType::float64;
      try {
        known = files_.emplace(seeding.file, read_dataset(seeding.file, csv).matrix()).first;
      } catch (const InputError& error) {
        setting.seeding_place.fail(error.what());
      }
    }
    const Matrix& matrix = known->second;
    if (matrix.rows != setting.options.clusters || matrix.columns != dataset.features) {
      setting.seeding_place.fail(fmt::format(
          "{} has {} rows and {} columns, but {} centroids of {} features are needed", seeding.file,
          matrix.rows, matrix.columns, setting.options.clusters, dataset.features));
    }
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
      for (std::int64_t j = 0; j < matrix.columns; ++j) {
        seeding.centroids.push_back(matrix.at(i, j));
      }
    }
  }

 private:
  std::map<std::string, Matrix> files_;
};

void check_sizes(const Setting& setting, const DatasetFacts& dataset) {
  const std::int64_t clusters = setting.options.clusters;
  if (clusters > dataset.samples) {
    setting.clusters_place.fail(fmt::format("'clusters' is {}, but {} has {} samples", clusters,
                                            dataset.name, dataset.samples));
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(clusters, dataset.features * 32, &bytes)) {
    setting.clusters_place.fail(fmt::format("{} clusters of {} features overflow 64-bit sizes",
                                            clusters, dataset.features));
  }
}

}  // namespace

std::int64_t Plan::trials() const {
  return (static_cast<std::int64_t>(fits.size()) - skipped()) * repeats;
}

std::int64_t Plan::skipped() const {
  return std::count_if(fits.begin(), fits.end(),
                       [](const PlannedFit& fit) { return !fit.skip.empty(); });
}

Plan make_plan(const Experiment& experiment, const BackendLoader& load, DatasetCache& datasets,
               const Machine& machine) {
  Plan plan;
  plan.experiment = experiment.name;
  plan.output = experiment.output;
  plan.repeats = experiment.repeats;
  plan.variants = make_variants(experiment.backends, load);
  if (experiment.baseline) plan.baseline = find_baseline(*experiment.baseline, plan.variants);

  CentroidFiles centroid_files;
  for (const Setting& setting : experiment.settings) {
    PlannedSetting planned{setting, datasets.facts(setting.dataset), {}};
    check_sizes(setting, planned.dataset);
    centroid_files.read(planned.setting, planned.dataset);
    planned.hash = hash_setting(planned.setting, planned.dataset);
    plan.settings.push_back(std::move(planned));
  }
  for (std::size_t s = 0; s < plan.settings.size(); ++s) {
    for (std::size_t v = 0; v < plan.variants.size(); ++v) {
      plan.fits.push_back({s, v, {}, {}});
      plan_fit(plan.fits.back(), plan.settings[s], plan.variants[v], machine);
    }
  }
  return plan;
}

void require_all(const Plan& plan) {
  for (const PlannedFit& fit : plan.fits) {
    if (fit.skip.empty()) continue;
    throw InputError(fmt::format("{} of {} fits would be skipped, and --require forbids it: {}: {}",
                                 plan.skipped(), plan.fits.size(), plan.variants[fit.variant].label,
                                 fit.skip));
  }
}

std::vector<VaryingAxis> varying_axes(const Plan& plan) {
  std::vector<VaryingAxis> axes;
  const std::vector<AxisValue>& first = plan.settings.front().setting.axes;
  for (std::size_t a = 0; a < first.size(); ++a) {
    std::set<std::string> values;
    for (const PlannedSetting& planned : plan.settings)
      values.insert(planned.setting.axes[a].value);
    if (values.size() > 1)
      axes.push_back({a, first[a].path, first[a].path.substr(first[a].path.rfind('.') + 1)});
  }
  std::map<std::string, int> uses;
  for (const VaryingAxis& axis : axes) ++uses[axis.header];
  for (VaryingAxis& axis : axes) {
    if (uses[axis.header] > 1) axis.header = axis.path;
  }
  return axes;
}

}  // namespace lloyd::experiment
