// Fragments: samples in FP16, in the order in which tensor cores read them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda-fast/common/error_bound.hpp"
#include "cuda-fast/common/screen_units.hpp"
#include "cuda/device/buffer.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda_fast {

/// ScreenUnits in device memory.
struct DeviceUnits {
  const double* origin = nullptr;  ///< d values
  double scale = 1;
  double underflow = 0;
};

/// Fragments and norms of a range of rows, in device memory. A step of 16 rows is 32 uint4, one per
/// lane, in the order of the A operand of m16n8k16; the steps of 16 rows are contiguous.
struct Fragments {
  uint4* values = nullptr;  ///< of rows from `first_row` on; padded with zeros to whole tiles
  float2* norms = nullptr;  ///< per row: |y'|, |y - y'|, rounded up
  std::int64_t first_row = 0;
  int steps = 0;  ///< ScreenShape::steps
};

/// The units of a data set: choose_units().
class ResidentUnits {
 public:
  /// Synchronous. Throws StatusError.
  explicit ResidentUnits(const lloyd::DatasetView& dataset);
  DeviceUnits get() const { return {origin_.data(), units_.scale, units_.underflow}; }
  const ScreenUnits& on_host() const { return units_; }

 private:
  ScreenUnits units_;
  lloyd_cuda::DeviceBuffer<double> origin_;
};

/// Enqueues the conversion of rows to fragments. `rows` begins at fragments.first_row. Raises
/// `largest` (device memory) to the norms of these rows; the caller sets it to zeros at first.
/// `halt`: see Pass::halt; null: the rows are always converted.
template <class T>
void enqueue_sample_conversion(const lloyd_cuda::Samples<T>& samples, lloyd::RowRange rows,
                               const DeviceUnits& units, const Fragments& fragments,
                               SampleNorms* largest, const std::int32_t* halt, cudaStream_t stream);

}  // namespace lloyd_cuda_fast
