#include "variants.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <lloyd/fit.hpp>

#include "machine/ceilings/ceilings.hpp"
#include "machine/processors/affinity.hpp"
#include "machine/system/cgroup.hpp"

namespace lloyd::bench {
namespace {

struct Setting {
  std::string name;
  std::string value;
};

// The defaults, as an empty list, and one list per other value of a choice.
std::vector<std::vector<Setting>> choices_of(const ParameterSet& defaults) {
  std::vector<std::vector<Setting>> result = {{}};
  for (const ParameterInfo& parameter : defaults.schema()) {
    if (parameter.type != ParameterType::choice) continue;
    for (std::int32_t i = 0; i < parameter.choice_count; ++i) {
      if (defaults.text(parameter.name) == parameter.choices[i]) continue;
      result.push_back({{parameter.name, parameter.choices[i]}});
    }
  }
  return result;
}

bool has_threads(const ParameterSet& defaults) {
  return std::any_of(defaults.schema().begin(), defaults.schema().end(),
                     [](const ParameterInfo& parameter) {
                       return parameter.type == ParameterType::integer &&
                              std::string_view(parameter.name) == "threads";
                     });
}

// One thread, and all threads; 0 if the backend has no such parameter.
std::vector<std::int64_t> thread_counts(const ParameterSet& defaults) {
  if (!has_threads(defaults)) return {0};
  const auto all =
      static_cast<std::int64_t>(machine::processors_within_quota(machine::allowed_processors(),
                                                                 machine::read_cgroup_limits().cpus)
                                    .size());
  return all > 1 ? std::vector<std::int64_t>{1, all} : std::vector<std::int64_t>{1};
}

bool has_cpu(const LoadedBackend& backend) {
  return std::any_of(backend.devices().begin(), backend.devices().end(),
                     [](const DeviceInfo& device) { return device.kind == DeviceKind::cpu; });
}

Variant make_variant(const std::shared_ptr<const LoadedBackend>& backend,
                     const std::vector<Setting>& settings, std::int64_t threads) {
  Variant variant{backend->name(), backend, backend->default_parameters(), threads,
                  has_cpu(*backend)};
  const auto set = [&variant](const std::string& name, const std::string& value) {
    variant.parameters.set(name, value);
    variant.name += fmt::format("/{}:{}", name, value);
  };
  for (const Setting& setting : settings) set(setting.name, setting.value);
  if (threads > 0) set("threads", fmt::format("{}", threads));
  return variant;
}

FitOptions options_of(std::int64_t clusters) {
  FitOptions options;
  options.clusters = clusters;
  options.max_iterations = 1;
  options.fixed_iterations = true;
  return options;
}

}  // namespace

std::vector<Variant> variants_of(
    const std::vector<std::shared_ptr<const LoadedBackend>>& backends) {
  std::vector<Variant> variants;
  for (const auto& backend : backends) {
    if (!backend->available()) continue;
    const ParameterSet defaults = backend->default_parameters();
    for (const std::vector<Setting>& settings : choices_of(defaults)) {
      for (const std::int64_t threads : thread_counts(defaults)) {
        variants.push_back(make_variant(backend, settings, threads));
      }
    }
  }
  return variants;
}

std::string unsupported(const Variant& variant, const Shape& shape, DType dtype) {
  ProblemShape problem;
  problem.samples = shape.samples;
  problem.features = problem.stride = shape.features;
  problem.clusters = shape.clusters;
  problem.dtype = dtype;
  const std::uint64_t required =
      kCapabilityHostMemory | (dtype == DType::float32 ? kCapabilityFloat32 : kCapabilityFloat64);
  return unsupported_reason(*variant.backend, problem, required, variant.parameters,
                            make_spec(options_of(shape.clusters), 0));
}

Phases reported_phases(const Variant& variant, DType dtype) {
  const Shape shape{64, 2, 2};
  if (!unsupported(variant, shape, dtype).empty()) return {};
  const Problem problem(shape, dtype);
  FitOptions options = options_of(shape.clusters);
  options.profile = true;
  BackendSession session(variant.backend, problem.dataset, variant.parameters);
  const PhaseTimes phases = session.fit_from(problem.start, options).result.phases;
  return {phases.assignment_ms >= 0, phases.update_ms >= 0};
}

}  // namespace lloyd::bench
