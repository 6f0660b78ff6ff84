// The enumerations of the boundary. Values are frozen within a major ABI version.
#pragma once

#include <cstdint>
#include <string_view>

/// k-means clustering with plugin backends.
namespace lloyd {

/// Type of the values of a data set.
enum class DType : std::int32_t {
  float32 = 0,  ///< IEEE 754 binary32
  float64 = 1,  ///< IEEE 754 binary64
};

/// Bytes of one value.
constexpr std::int64_t size_of(DType dtype) {
  return dtype == DType::float32 ? 4 : 8;
}

/// Memory space of an array.
enum class MemorySpace : std::int32_t {
  host = 0,    ///< host memory
  device = 1,  ///< memory of the device whose index accompanies it
};

/// Label accuracy, from best to worst. By definition, a label is the index of the nearest centroid,
/// by the float64 distance of distance.hpp; ties go to the lowest index.
enum class Accuracy : std::int32_t {
  exact = 0,    ///< every label follows the definition
  float32 = 1,  ///< nearest up to the error of float32 arithmetic
  tf32 = 2,     ///< nearest up to the error of products with 11 significant bits
  half = 3,     ///< nearest up to the error of products of 16-bit values
};

/// Reproducibility of a fit, from best to worst.
enum class Reproducibility : std::int32_t {
  canonical = 0,  ///< exact labels and sums: the same bits as every canonical backend
  threads = 1,    ///< the same bits for any number of threads or any grid size
  run = 2,        ///< the same bits on the same machine with the same settings
  none = 3,       ///< not guaranteed
};

/// Policy for clusters without samples after an assignment.
enum class EmptyClusters : std::int32_t {
  relocate = 0,  ///< the cluster takes the sample farthest from its own centroid
  keep = 1,      ///< the centroid stays where it is
  error = 2,     ///< the fit ends with StatusCode::empty_cluster
};

/// Which stop rules a fit uses.
enum class StopRule : std::int32_t {
  converge = 0,  ///< labels unchanged, or shift within tolerance, or max_iterations
  fixed = 1,     ///< exactly max_iterations iterations
};

/// The stop rule that ended a fit. If several rules end it in the same iteration, the reason is the
/// first of `labels`, `tolerance` and `max_iterations` among them.
enum class StopReason : std::int32_t {
  none = 0,            ///< the fit has not stopped
  labels = 1,          ///< no label changed in the last iteration
  tolerance = 2,       ///< sum of squared shifts at most FitSpec::tolerance
  max_iterations = 3,  ///< FitSpec::max_iterations were run
  cancelled = 4,       ///< the observer cancelled the fit
};

/// The name of a stop reason, as in records: "none", "labels", "tolerance", "max_iterations",
/// "cancelled"; "unknown" for another value.
constexpr std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::none:
      return "none";
    case StopReason::labels:
      return "labels";
    case StopReason::tolerance:
      return "tolerance";
    case StopReason::max_iterations:
      return "max_iterations";
    case StopReason::cancelled:
      return "cancelled";
  }
  return "unknown";
}

/// Form of the cluster sums of a fit; see cluster_sums.hpp.
enum class SumForm : std::int32_t {
  integer64 = 0,    ///< exact, one 64-bit word
  integer128 = 1,   ///< exact, two 64-bit words
  compensated = 2,  ///< compensated float64 in row order, if the sums fit neither
};

// Capability bits: what a backend can process (BackendInfo::capabilities), and what a data set or a
// request needs (`required_capabilities`). The core refuses a request that needs a bit the backend
// does not declare.
inline constexpr std::uint64_t kCapabilityFloat32 = 0x01;       ///< float32 samples
inline constexpr std::uint64_t kCapabilityFloat64 = 0x02;       ///< float64 samples
inline constexpr std::uint64_t kCapabilityStrided = 0x04;       ///< samples with stride > d
inline constexpr std::uint64_t kCapabilityHostMemory = 0x08;    ///< samples in host memory
inline constexpr std::uint64_t kCapabilityDeviceMemory = 0x10;  ///< samples in device memory
inline constexpr std::uint64_t kCapabilityWeights = 0x20;       ///< one weight per sample
inline constexpr std::uint64_t kCapabilityMetric =
    0x40;  ///< a metric other than the squared Euclidean distance
inline constexpr std::uint64_t kCapabilityRowWindows =
    0x80;  ///< samples that are not in memory; see windowed_passes.hpp

// Bits of FitSpec::observe: the fields that fit() fills in each IterationRecord.
inline constexpr std::uint32_t kObserveIterations = 0x1;  ///< number, changed, shift, time
inline constexpr std::uint32_t kObserveInertia = 0x2;     ///< IterationRecord::inertia
inline constexpr std::uint32_t kObserveLabels = 0x4;      ///< IterationRecord::labels
inline constexpr std::uint32_t kObserveCentroids = 0x8;   ///< IterationRecord::centroids

// Bits of FitResult::valid and LabelResult::valid: the outputs that are valid.
inline constexpr std::uint32_t kValidCentroids = 0x1;  ///< centroids of the last finished iteration
inline constexpr std::uint32_t kValidLabels = 0x2;     ///< labels for these centroids
inline constexpr std::uint32_t kValidCounts = 0x4;     ///< counts of these labels
inline constexpr std::uint32_t kValidInertia = 0x8;    ///< inertia of these labels and centroids

}  // namespace lloyd
