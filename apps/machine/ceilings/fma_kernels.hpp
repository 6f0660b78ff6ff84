// Kernels that execute fused multiply-adds only.
#pragma once

#include <cstdint>

namespace lloyd::machine {

/// `run(rounds, factor, addend)` saturates the FMA pipes: each round does one multiplication and
/// one addition in every lane of several independent registers. The result depends on all of them.
template <class Real>
struct FmaKernel {
  Real (*run)(std::int64_t rounds, Real factor, Real addend);
  std::int64_t operations_per_round;  ///< multiplications plus additions, over all lanes
};

struct FmaKernels {
  const char* instruction_set;
  FmaKernel<float> float32;
  FmaKernel<double> float64;
};

/// The kernels for the widest instruction set of this processor.
FmaKernels best_fma_kernels();

}  // namespace lloyd::machine
