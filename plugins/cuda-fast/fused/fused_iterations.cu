// Iterations of a fit in one kernel.
#include "cuda-fast/fused/fused_pass.hpp"
#include "cuda-fast/fused/labeller_for_features.cuh"
#include "cuda/fused/fused_iterations.cuh"

namespace lloyd_cuda_fast {

using lloyd_cuda::IterationArguments;

template <class T>
void enqueue_fused_iterations(const IterationArguments& first, const IterationArguments& second,
                              int count, const Samples<T>& samples, const FusedArguments& arguments,
                              lloyd_cuda_fused::Device& device, unsigned long long* grid_memory) {
  const ExactLabellerArguments labels{arguments.units, arguments.origin, arguments.fallbacks};
  with_labeller<T>(samples.features, [&]<class Labeller>() {
    lloyd_cuda_fused::launch_iterations<Labeller>(first, second, count, samples, labels,
                                                  arguments.configuration, device, grid_memory);
  });
}

template void enqueue_fused_iterations(const IterationArguments&, const IterationArguments&, int,
                                       const Samples<float>&, const FusedArguments&,
                                       lloyd_cuda_fused::Device&, unsigned long long*);
template void enqueue_fused_iterations(const IterationArguments&, const IterationArguments&, int,
                                       const Samples<double>&, const FusedArguments&,
                                       lloyd_cuda_fused::Device&, unsigned long long*);

}  // namespace lloyd_cuda_fast
