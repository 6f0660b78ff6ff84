// Cluster sums in device memory: the SDK's SumPlan for kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/passes/float_limbs.hpp"

namespace lloyd_cuda {

/// Bits per limb in shared memory.
inline constexpr int kSharedLimbBits = 16;
/// Maximum number of limb values whose sum fits into a signed 32-bit word.
inline constexpr std::int64_t kSharedLimbRows = (1 << (31 - kSharedLimbBits)) - 1;

/// Scale for converting values to integers, see lloyd::SumPlan. Arrays are in device memory.
struct SumScale {
  bool narrow = false;  ///< true: a value has at most 64 bits
  /// Rows that can be added before 64 bits overflow.
  std::int64_t flush_rows = 0;
  int shared_limbs = 1;                     ///< limbs of kSharedLimbBits per value
  int float_limbs = 0;                      ///< float_limbs(); for float32 samples only
  const double* scales = nullptr;           ///< limbs x features: 1 / quantum of the limb
  const std::int32_t* exponents = nullptr;  ///< per feature: log2 of the quantum of limb 0

  bool operator==(const SumScale&) const = default;
};

/// Sums and counts to which a pass adds, in device memory. Sums are two's-complement 128-bit
/// integers that are updated by atomic operations in any order.
struct Totals {
  lloyd::SumWords* sums = nullptr;       ///< k x d
  unsigned long long* counts = nullptr;  ///< k

  bool operator==(const Totals&) const = default;
};

/// The SumScale of a data set, in device memory.
class ResidentScale {
 public:
  /// For an integer plan. It stays empty for compensated sums, which the host computes.
  explicit ResidentScale(const lloyd::SumPlan& plan) {
    if (!plan.is_integer()) return;
    scale_.narrow = plan.limbs == 1;
    scale_.flush_rows = plan.flush_rows;
    const int bits = *std::max_element(plan.value_bits.begin(), plan.value_bits.end());
    scale_.shared_limbs = std::max((bits + kSharedLimbBits - 1) / kSharedLimbBits, 1);
    scale_.float_limbs = float_limbs(plan);
    scale_.scales = upload(plan.scales, scales_);
    scale_.exponents = upload(
        std::vector<std::int32_t>(plan.quantum_exponents.begin(), plan.quantum_exponents.end()),
        exponents_);
  }

  /// The scale to pass to kernels.
  const SumScale& get() const { return scale_; }

 private:
  // Synchronous, since the source may be freed. cudaMemcpy may return before a copy of pageable
  // memory has ended, and the streams of a session do not wait for the default stream, so
  // synchronize explicitly.
  template <class T>
  static const T* upload(const std::vector<T>& values, DeviceBuffer<T>& buffer) {
    buffer.resize(static_cast<std::int64_t>(values.size()));
    check(
        cudaMemcpy(buffer.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "copying to the device");
    check(cudaStreamSynchronize(cudaStreamLegacy), "copying to the device");
    return buffer.data();
  }

  SumScale scale_;
  DeviceBuffer<double> scales_;
  DeviceBuffer<std::int32_t> exponents_;
};

}  // namespace lloyd_cuda
