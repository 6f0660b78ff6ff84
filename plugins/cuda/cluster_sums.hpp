// Sums per cluster in device memory: the SDK's SumPlan as kernels use it.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/plugin/cluster_sums.hpp>

#include "cuda/buffer.hpp"

namespace lloyd_cuda {

/// How kernels turn values into integers, as lloyd::SumPlan says. Arrays are device memory.
struct SumScale {
  bool narrow = false;                      ///< one lane holds a value
  int lanes = 1;                            ///< integers that a value is split into
  int lane_bits = 0;                        ///< bits of each of them
  std::int64_t flush_rows = 0;              ///< rows that 64 bits hold the lanes of
  const double* scales = nullptr;           ///< lanes x features: 1 / quantum of the lane
  const double* quanta = nullptr;           ///< lanes x features
  const std::int32_t* exponents = nullptr;  ///< per feature: log2 of the quantum of lane 0
};

/// Where a pass adds its sums; device memory. Totals are two's-complement 128-bit integers, added
/// to by atomic operations in any order.
struct Totals {
  lloyd::SumWords* sums = nullptr;       ///< k x d
  unsigned long long* counts = nullptr;  ///< k
};

/// The scale of a data set, resident on the device.
class ResidentScale {
 public:
  /// For an integer plan; an empty one for compensated sums, which the host adds up.
  explicit ResidentScale(const lloyd::SumPlan& plan) {
    if (!plan.is_integer()) return;
    scale_.narrow = plan.limbs == 1;
    scale_.lanes = plan.limbs;
    scale_.lane_bits = plan.limb_bits;
    scale_.flush_rows = plan.flush_rows;
    scale_.scales = put(plan.scales, scales_);
    scale_.quanta = put(plan.quanta, quanta_);
    scale_.exponents =
        put(std::vector<std::int32_t>(plan.quantum_exponents.begin(), plan.quantum_exponents.end()),
            exponents_);
  }

  /// The scale, as kernels take it.
  const SumScale& get() const { return scale_; }

 private:
  // Not asynchronous, since the values may go away. The copy of pageable memory may still be on its
  // way when cudaMemcpy returns, and the streams of a session do not wait for the default one.
  template <class T>
  static const T* put(const std::vector<T>& values, DeviceBuffer<T>& buffer) {
    buffer.resize(static_cast<std::int64_t>(values.size()));
    check(
        cudaMemcpy(buffer.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "copying to the device");
    check(cudaStreamSynchronize(cudaStreamLegacy), "copying to the device");
    return buffer.data();
  }

  SumScale scale_;
  DeviceBuffer<double> scales_;
  DeviceBuffer<double> quanta_;
  DeviceBuffer<std::int32_t> exponents_;
};

}  // namespace lloyd_cuda
