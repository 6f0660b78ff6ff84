// Sums per cluster in device memory: the SDK's SumPlan as kernels use it.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/plugin/cluster_sums.hpp>

#include "cuda/buffer.hpp"

namespace lloyd_cuda {

/// How kernels turn values into integers. `narrow`: one value fits 64 bits so well that
/// `flush_rows` of them can be added up in 64 bits.
struct SumScale {
  bool narrow = false;
  std::int64_t flush_rows = 0;
  const double* scales = nullptr;           ///< per feature, device: 1 / quantum
  const std::int32_t* exponents = nullptr;  ///< per feature, device: log2 of the quantum
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
    scale_.narrow = plan.lanes == 1;
    scale_.flush_rows = plan.flush_rows;
    const auto features = plan.features;
    const std::vector<std::int32_t> exponents(plan.quantum_exponents.begin(),
                                              plan.quantum_exponents.end());
    scales_ = DeviceBuffer<double>(features);
    exponents_ = DeviceBuffer<std::int32_t>(features);
    // The lowest lane's: those of the whole value where there is one lane. Not asynchronous, since
    // the vector goes away.
    check(cudaMemcpy(scales_.data(), plan.scales.data(),
                     static_cast<std::size_t>(features) * sizeof(double), cudaMemcpyHostToDevice),
          "copying to the device");
    check(cudaMemcpy(exponents_.data(), exponents.data(),
                     static_cast<std::size_t>(features) * sizeof(std::int32_t),
                     cudaMemcpyHostToDevice),
          "copying to the device");
    scale_.scales = scales_.data();
    scale_.exponents = exponents_.data();
  }

  const SumScale& get() const { return scale_; }

 private:
  SumScale scale_;
  DeviceBuffer<double> scales_;
  DeviceBuffer<std::int32_t> exponents_;
};

}  // namespace lloyd_cuda
