// Loops of fused multiply-adds that do nothing else.
#pragma once

#include <cstdint>

namespace lloyd::machine {

/// `run(rounds, factor, addend)` keeps all pipes busy: each round makes one multiplication and one
/// addition in every lane of a number of independent registers. The result depends on all of them.
template <class Real>
struct FmaKernel {
  Real (*run)(std::int64_t rounds, Real factor, Real addend);
  std::int64_t operations_per_round;
};

struct FmaKernels {
  const char* instruction_set;
  FmaKernel<float> float32;
  FmaKernel<double> float64;
};

/// The widest that this processor has.
FmaKernels best_fma_kernels();

}  // namespace lloyd::machine
