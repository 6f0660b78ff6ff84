#include "experiment/record.hpp"

#include <unistd.h>

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "experiment/setting_json.hpp"
#include "names.hpp"

namespace lloyd::experiment {

std::string_view to_string(TrialStatus status) {
  switch (status) {
    case TrialStatus::ok:
      return "ok";
    case TrialStatus::skipped:
      return "skipped";
    case TrialStatus::failed:
      return "failed";
    case TrialStatus::cancelled:
      return "cancelled";
  }
  return "unknown";
}

Record describe_trial(const Plan& plan, const PlannedFit& fit, std::int64_t repeat,
                      const std::string& run, const Machine& machine) {
  const PlannedSetting& planned = plan.settings[fit.setting];
  const Variant& variant = plan.variants[fit.variant];
  const LoadedBackend& backend = *variant.backend;
  const FitOptions& options = planned.setting.options;
  const DatasetFacts& dataset = planned.dataset;

  Record record;
  record.experiment = plan.experiment;
  record.run = run;
  record.setting = planned.hash;
  record.axes = planned.setting.axes;
  record.backend.name = backend.name();
  record.backend.version = backend.version();
  record.backend.parameters = parameters_json(variant.parameters);
  record.backend.accuracy = apps::to_string(backend.accuracy(dataset.dtype));
  record.backend.reproducibility = apps::to_string(backend.reproducibility(dataset.dtype));
  for (const DeviceInfo& device : backend.devices())
    record.backend.devices.emplace_back(device.name);
  record.dataset.name = dataset.name;
  record.dataset.samples = dataset.samples;
  record.dataset.features = dataset.features;
  record.dataset.dtype = apps::to_string(dataset.dtype);
  if (dataset.fingerprint) record.dataset.fingerprint = hex(*dataset.fingerprint);
  record.dataset.source = source_json(planned.setting.dataset);
  record.clusters = options.clusters;
  record.seeding.method = to_string(options.seeding.method);
  record.seeding.seed = options.seeding.seed;
  record.seeding.file = options.seeding.file;
  if (options.seeding.method == SeedingMethod::kmeans_parallel) {
    record.seeding.oversampling = options.seeding.oversampling;
    record.seeding.rounds = options.seeding.rounds;
  }
  record.restarts = options.restarts;
  record.stop = stop_json(options);
  record.empty_clusters = apps::to_string(options.empty_clusters);
  record.profile = options.profile;
  record.repeat = repeat;
  record.memory = fit.memory;
  record.machine = machine;
  return record;
}

std::string timestamp() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string make_run_id() {
  return fmt::format("{}-{}", timestamp(), ::getpid());
}

}  // namespace lloyd::experiment
