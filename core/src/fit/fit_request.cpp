#include "fit/fit_request.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/refusal.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "dataset/check_shape.hpp"
#include "dataset/squared_range.hpp"

namespace lloyd {
namespace {

std::string capability_text(std::uint64_t bit) {
  switch (bit) {
    case kCapabilityFloat32:
      return "float32 data";
    case kCapabilityFloat64:
      return "float64 data";
    case kCapabilityStrided:
      return "rows with a stride";
    case kCapabilityHostMemory:
      return "data in host memory";
    case kCapabilityDeviceMemory:
      return "data in device memory";
    case kCapabilityWeights:
      return "sample weights";
    case kCapabilityMetric:
      return "a metric other than squared Euclidean";
    case kCapabilityRowWindows:
      return "rows in windows";
  }
  return fmt::format("capability bit 0x{:x}, unknown to this version", bit);
}

// Values beyond the enumerators and bits that this version knows.
void check_choices(const FitOptions& options) {
  constexpr std::uint32_t kObserveBits =
      kObserveIterations | kObserveInertia | kObserveLabels | kObserveCentroids;
  if ((options.observe & ~kObserveBits) != 0) {
    throw InputError(fmt::format(
        "observe is 0x{:x}; it must consist of kObserve... bits, which are 0x1, 0x2, 0x4 and 0x8",
        options.observe));
  }
  const auto policy = static_cast<std::int32_t>(options.empty_clusters);
  if (policy < 0 || policy > static_cast<std::int32_t>(EmptyClusters::error)) {
    throw InputError(fmt::format(
        "empty_clusters is {}; it must be EmptyClusters::relocate, keep or error", policy));
  }
}

bool is_same_parameter(const ParameterInfo& a, const ParameterInfo& b) {
  return std::string_view(a.name) == b.name && a.type == b.type &&
         a.choice_count == b.choice_count && a.integer_minimum == b.integer_minimum &&
         a.integer_maximum == b.integer_maximum;
}

}  // namespace

std::string missing_capability(const LoadedBackend& backend, std::uint64_t required) {
  const std::uint64_t missing = required & ~backend.info().capabilities;
  if (missing == 0) return {};
  return "does not support " + capability_text(missing & (~missing + 1));
}

void check_available(const LoadedBackend& backend) {
  if (backend.available()) return;
  throw BackendError(StatusCode::unavailable,
                     fmt::format("{} is not available: {}", backend.name(), backend.unavailable()));
}

void check_parameters(const LoadedBackend& backend, const ParameterSet& parameters) {
  const ParameterSet defaults = backend.default_parameters();
  const std::vector<ParameterInfo>& own = defaults.schema();
  const std::vector<ParameterInfo>& given = parameters.schema();
  if (std::equal(own.begin(), own.end(), given.begin(), given.end(), is_same_parameter)) return;
  throw InputError(fmt::format(
      "{}: these parameters belong to another backend; default_parameters() and parameters_of() "
      "give those of this one",
      backend.name()));
}

void check_cluster_count(std::int64_t clusters, std::int64_t features) {
  std::int64_t bytes = 0;
  if (clusters < 1 || clusters > std::numeric_limits<std::int32_t>::max() ||
      __builtin_mul_overflow(clusters, features * 32, &bytes)) {
    throw InputError(fmt::format(
        "clusters is {}; it must be at least 1, below 2^31, and small enough to count its values",
        clusters));
  }
}

void check_options(const FitOptions& options, const Dataset& dataset) {
  const FloatEnvironment environment;
  if (options.clusters < 1 || options.clusters > dataset.total_samples()) {
    throw InputError(fmt::format("clusters is {}; it must be 1 to {}, the number of samples in {}",
                                 options.clusters, dataset.total_samples(), dataset.name()));
  }
  check_cluster_count(options.clusters, dataset.features());
  check_feature_names(dataset);
  const auto varies = [](const FeatureStatistics& feature) {
    return feature.minimum < feature.maximum;
  };
  const std::vector<FeatureStatistics>& features = dataset.statistics();
  if (std::any_of(features.begin(), features.end(), varies) &&
      squared_diagonal(features) < kSmallestSquare) {
    throw InputError(
        fmt::format("the samples of {} differ by so little that squared distances, at most {:.3g}, "
                    "are too near zero for float64 (limit {:.3g}); scale the data up",
                    dataset.name(), squared_diagonal(features), kSmallestSquare));
  }
  if (options.restarts < 1) {
    throw InputError(fmt::format("restarts is {}; it must be at least 1", options.restarts));
  }
  if (!options.seeding.centroids.empty() && options.seeding.method != SeedingMethod::file) {
    throw InputError(
        "seeding.centroids are given, but seeding.method is not SeedingMethod::file, which uses "
        "them");
  }
  const Seeding defaults;
  if (options.seeding.method != SeedingMethod::kmeans_parallel &&
      (options.seeding.oversampling != defaults.oversampling ||
       options.seeding.rounds != defaults.rounds)) {
    throw InputError(fmt::format(
        "seeding.{} is set, but seeding.method is {}; only SeedingMethod::kmeans_parallel uses it",
        options.seeding.rounds != defaults.rounds ? "rounds" : "oversampling",
        to_string(options.seeding.method)));
  }
  if (options.max_iterations < 1) {
    throw InputError(fmt::format("the number of iterations is {}; it must be at least 1",
                                 options.max_iterations));
  }
  if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance)) {
    throw InputError(
        fmt::format("tolerance is {}; it must be a finite number >= 0", options.tolerance));
  }
  check_choices(options);
}

FitSpec make_spec(const FitOptions& options, double mean_variance) {
  const FloatEnvironment environment;
  FitSpec spec;
  spec.clusters = options.clusters;
  spec.max_iterations = options.max_iterations;
  spec.tolerance = options.tolerance * mean_variance;
  spec.stop_rule = options.fixed_iterations ? StopRule::fixed : StopRule::converge;
  spec.empty_clusters = options.empty_clusters;
  spec.observe = options.observe;
  spec.profile = options.profile ? 1 : 0;
  return spec;
}

ProblemShape make_shape(const Dataset& dataset, std::int64_t clusters) {
  ProblemShape shape;
  shape.samples = dataset.samples();
  shape.features = dataset.features();
  shape.stride = dataset.matrix().stride;
  shape.clusters = clusters;
  shape.dtype = dataset.dtype();
  return shape;
}

std::string unsupported_reason(const LoadedBackend& backend, const ProblemShape& shape,
                               std::uint64_t required_capabilities, const ParameterSet& parameters,
                               const FitSpec& spec) {
  std::string missing =
      missing_capability(backend, required_capabilities | spec.required_capabilities);
  if (!missing.empty()) return missing;
  const Status status = backend.backend().supports(shape, parameters.list(), spec);
  if (status.ok()) return {};
  if (!is_refusal(status.code)) throw_unless_ok(backend.name(), status);
  return status_message(status);
}

MemoryEstimate estimate_memory(const LoadedBackend& backend, const ProblemShape& shape,
                               const ParameterSet& parameters, const FitSpec& spec) {
  check_parameters(backend, parameters);
  MemoryEstimate memory;
  throw_unless_ok(backend.name(),
                  backend.backend().estimate(shape, parameters.list(), spec, memory));
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 62;
  if (memory.host_bytes < 0 || memory.device_bytes < 0 || memory.host_bytes > kMaxBytes ||
      memory.device_bytes > kMaxBytes) {
    throw BackendError(
        StatusCode::internal,
        fmt::format("{}: its estimate() gives {} bytes of host memory and {} of device memory, "
                    "where 0 to 2^62 are possible",
                    backend.name(), memory.host_bytes, memory.device_bytes));
  }
  return memory;
}

void check_fit(const LoadedBackend& backend, const Dataset& dataset, const ParameterSet& parameters,
               const FitOptions& options) {
  check_options(options, dataset);
  check_parameters(backend, parameters);
  check_available(backend);
  if (dataset.samples() == 0) return;  // a rank without rows opens no session
  const std::string reason = unsupported_reason(backend, make_shape(dataset, options.clusters),
                                                dataset.view().required_capabilities, parameters,
                                                make_spec(options, dataset.mean_variance()));
  if (!reason.empty()) {
    throw BackendError(StatusCode::unsupported, backend.name() + ": " + reason);
  }
}

}  // namespace lloyd
