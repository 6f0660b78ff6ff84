// The data set as a backend sees it.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/types.hpp>

namespace lloyd {

/// Statistics of one feature (column) over the whole data set, in float64, in the units of the
/// feature.
struct FeatureStatistics {
  double minimum;   ///< smallest value
  double maximum;   ///< largest value
  double mean;      ///< sum divided by n
  double variance;  ///< mean squared deviation from the mean (divided by n); unit squared
  /// Largest e such that every value is a multiple of 2^e; 0 if all values are zero.
  std::int32_t quantum_exponent;
  std::int32_t reserved;  ///< 0
};
static_assert(sizeof(FeatureStatistics) == 40);

/// A matrix of n samples by d features, row-major: feature j of sample i is `data[i*stride + j]`.
/// All arrays stay valid and unchanged until the session that was opened on the view is released.
/// `data` has the alignment of one value; it is null if and only if `required_capabilities` has
/// kCapabilityRowWindows. The core guarantees n >= 1, d >= 1, stride >= d, that no size overflows,
/// that all values are finite, and that |values| and squared distances are below 1e290.
struct DatasetView {
  std::uint64_t struct_size = sizeof(DatasetView);  ///< sizeof on the allocating side
  std::uint64_t required_capabilities = 0;          ///< kCapability... bits
  const void* data = nullptr;                       ///< samples x features values of `dtype`
  std::int64_t samples = 0;                         ///< n
  std::int64_t features = 0;                        ///< d
  std::int64_t stride = 0;                          ///< values from one sample to the next
  DType dtype = DType::float32;                     ///< type of the values
  MemorySpace memory_space = MemorySpace::host;     ///< of `data`
  std::int32_t device = 0;    ///< index of the device, for MemorySpace::device
  std::int32_t reserved = 0;  ///< 0
  /// CUDA stream that wrote `data`, for MemorySpace::device; it exists as long as the session.
  void* stream = nullptr;
  const double* weights = nullptr;  ///< reserved, null
  /// d entries, in host memory. If this view is a part of a larger data set, they describe the
  /// whole data set, so that the sums of all parts have the same quanta and can be added.
  const FeatureStatistics* statistics = nullptr;
  std::int64_t total_samples = 0;  ///< samples that `statistics` describes; >= samples
};
static_assert(sizeof(DatasetView) == 96);

/// A range of rows, [begin, end).
struct RowRange {
  std::int64_t begin = 0;  ///< first row
  std::int64_t end = 0;    ///< one past the last row
  /// Number of rows.
  constexpr std::int64_t size() const { return end - begin; }
};

/// The size of a problem, before any data is opened.
struct ProblemShape {
  std::uint64_t struct_size = sizeof(ProblemShape);  ///< sizeof on the allocating side
  std::int64_t samples = 0;                          ///< n
  std::int64_t features = 0;                         ///< d
  std::int64_t stride = 0;                           ///< values from one sample to the next; >= d
  std::int64_t clusters = 0;                         ///< k
  DType dtype = DType::float32;                      ///< type of the samples
  std::int32_t reserved = 0;                         ///< 0
};
static_assert(sizeof(ProblemShape) == 48);

}  // namespace lloyd
