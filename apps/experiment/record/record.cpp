#include "experiment/record/record.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "experiment/plan/setting_json.hpp"
#include "json/parameters_json.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::array<std::pair<TrialStatus, std::string_view>, 5> kStatuses = {
    {{TrialStatus::ok, "ok"},
     {TrialStatus::skipped, "skipped"},
     {TrialStatus::failed, "failed"},
     {TrialStatus::timed_out, "timed out"},
     {TrialStatus::cancelled, "cancelled"}}};

void describe_backend(const Variant& variant, DType dtype, Record& record) {
  record.backend.name = variant.name;
  record.backend.label = variant.label;
  record.backend.parameters = variant.parameters_known() ? apps::parameters_json(variant.parameters)
                                                         : nlohmann::ordered_json(variant.given);
  if (variant.backend == nullptr) return;
  const LoadedBackend& backend = *variant.backend;
  record.backend.version = backend.version();
  record.backend.accuracy = apps::to_string(backend.accuracy(dtype));
  record.backend.reproducibility = apps::to_string(backend.reproducibility(dtype));
  for (const DeviceInfo& device : backend.devices()) {
    record.backend.devices.emplace_back(device.name);
  }
}

}  // namespace

std::string_view to_string(TrialStatus status) {
  for (const auto& [known, name] : kStatuses) {
    if (known == status) return name;
  }
  return "unknown";
}

TrialStatus parse_trial_status(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& [status, name] : kStatuses) {
    if (name == text) return status;
    names.emplace_back(name);
  }
  throw InputError(fmt::format("unknown status '{}'{}", text, suggestion(text, names)));
}

Record describe_trial(const Plan& plan, const PlannedFit& fit, std::int64_t repeat,
                      const std::string& run, const Machine& machine) {
  const PlannedSetting& planned = plan.settings[fit.setting];
  const Variant& variant = plan.variants[fit.variant];
  const FitOptions& options = planned.setting.options;
  const DatasetFacts& dataset = planned.dataset;

  Record record;
  record.experiment = plan.experiment;
  record.run = run;
  record.setting = planned.hash;
  record.axes = planned.setting.axes;
  record.plan.setting = static_cast<std::int64_t>(fit.setting);
  record.plan.settings = std::ssize(plan.settings);
  record.plan.variant = static_cast<std::int64_t>(fit.variant);
  record.plan.variants = std::ssize(plan.variants);
  record.plan.repeats = plan.repeats;
  record.plan.hash = plan.hash;
  record.plan.until = plan.until;
  record.plan.order_seed = plan.order_seed;
  record.plan.checks = plan.checks;
  record.plan.silhouette = plan.silhouette;
  record.plan.counters = plan.counters;
  if (plan.baseline) record.plan.baseline = plan.variants[*plan.baseline].label;
  describe_backend(variant, dataset.dtype, record);
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
  record.cold_l2 = plan.settings[fit.setting].setting.cold_l2;
  record.isolation = plan.isolation;
  record.ranks = variant.ranks;
  if (variant.ranks > 0) record.launcher = plan.launch.launcher;
  record.repeat = repeat;
  record.memory = fit.memory;
  record.published = fit.published;
  record.machine = machine;
  return record;
}

Record describe_unrun(const Plan& plan, const PlannedFit& fit, const std::string& run,
                      const Machine& machine) {
  Record record = describe_trial(plan, fit, 0, run, machine);
  record.status = fit.failed         ? TrialStatus::failed
                  : fit.skip.empty() ? TrialStatus::cancelled
                                     : TrialStatus::skipped;
  record.reason = fit.skip.empty() ? "not run" : fit.skip;
  record.time = timestamp();
  return record;
}

std::string timestamp() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string make_run_id() {
  // In containers every run may have the same process id.
  std::uint32_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) {
    throw Error(fmt::format("the system provides no random numbers: {}", std::strerror(errno)));
  }
  return fmt::format("{}-{}-{:08x}", timestamp(), ::getpid(), random);
}

}  // namespace lloyd::experiment
