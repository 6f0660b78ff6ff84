// The enumerations of the boundary. Values are frozen within a major ABI version.
#pragma once

#include <cstdint>

/// k-means clustering with plugin backends.
namespace lloyd {

/// Type of the values of samples.
enum class DType : std::int32_t {
  float32 = 0,  ///< IEEE 754 binary32
  float64 = 1,  ///< IEEE 754 binary64
};

/// Bytes of one value.
constexpr std::int64_t size_of(DType dtype) {
  return dtype == DType::float32 ? 4 : 8;
}

/// Where an array is.
enum class MemorySpace : std::int32_t {
  host = 0,    ///< ordinary memory of the process
  device = 1,  ///< memory of the device named beside it
};

/// How near to the definition (the float64 distance, ties to the lowest index) labels are, from
/// best to worst.
enum class Accuracy : std::int32_t {
  exact = 0,    ///< the definition for every sample
  float32 = 1,  ///< arithmetic in float32
  tf32 = 2,     ///< products of values rounded to 11 significant bits
  half = 3,     ///< products of values in a 16-bit format
};

/// What stays the same when a fit is repeated, from best to worst.
enum class Reproducibility : std::int32_t {
  canonical = 0,  ///< exact labels and exact sums: the same bits as any other canonical backend
  threads = 1,    ///< the same bits for any number of threads or grid size
  run = 2,        ///< the same bits on the same machine with the same settings
  none = 3,       ///< nothing is promised
};

/// What to do with a cluster that has no sample after an assignment.
enum class EmptyClusters : std::int32_t {
  relocate = 0,  ///< move it to the sample farthest from its own centroid
  keep = 1,      ///< leave its centroid where it was
  error = 2,     ///< end the fit with StatusCode::empty_cluster
};

/// When a fit ends.
enum class StopRule : std::int32_t {
  converge = 0,  ///< labels unchanged, or shift within the tolerance, or max_iterations
  fixed = 1,     ///< exactly max_iterations
};

/// Why a fit ended.
enum class StopReason : std::int32_t {
  none = 0,            ///< no fit has ended
  labels = 1,          ///< no label changed in the last iteration
  tolerance = 2,       ///< the centroids shifted by no more than FitSpec::tolerance
  max_iterations = 3,  ///< so many were run
  cancelled = 4,       ///< the observer asked for it
};

/// Form of the sums of a fit; see cluster_sums.hpp.
enum class SumForm : std::int32_t {
  integer64 = 0,    ///< exact, one 64-bit word
  integer128 = 1,   ///< exact, two 64-bit words
  compensated = 2,  ///< compensated float64 in row order: the range of the data fits neither
};

// Capability bits: what a backend can process (BackendInfo::capabilities), and what a data set or a
// request needs (`required_capabilities`). The core refuses a request that needs a bit the backend
// does not declare.
inline constexpr std::uint64_t kCapabilityFloat32 = 0x01;       ///< float32 samples
inline constexpr std::uint64_t kCapabilityFloat64 = 0x02;       ///< float64 samples
inline constexpr std::uint64_t kCapabilityStrided = 0x04;       ///< stride > number of features
inline constexpr std::uint64_t kCapabilityHostMemory = 0x08;    ///< samples in host memory
inline constexpr std::uint64_t kCapabilityDeviceMemory = 0x10;  ///< samples in device memory
inline constexpr std::uint64_t kCapabilityWeights = 0x20;       ///< a weight per sample
inline constexpr std::uint64_t kCapabilityMetric = 0x40;  ///< not the squared Euclidean distance

// Bits of FitSpec::observe: what the observer wants in each IterationRecord.
inline constexpr std::uint32_t kObserveIterations = 0x1;  ///< number, changed, shift, time
inline constexpr std::uint32_t kObserveInertia = 0x2;     ///< IterationRecord::inertia
inline constexpr std::uint32_t kObserveLabels = 0x4;      ///< IterationRecord::labels
inline constexpr std::uint32_t kObserveCentroids = 0x8;   ///< IterationRecord::centroids

// Bits of FitResult::valid and LabelResult::valid: which outputs hold what they should.
inline constexpr std::uint32_t kValidCentroids = 0x1;  ///< of the last finished iteration
inline constexpr std::uint32_t kValidLabels = 0x2;     ///< of these centroids
inline constexpr std::uint32_t kValidCounts = 0x4;     ///< of these labels
inline constexpr std::uint32_t kValidInertia = 0x8;    ///< of these labels and centroids

}  // namespace lloyd
