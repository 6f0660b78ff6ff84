// The kernel that runs iterations of a small fit in one block.
#include "cuda/fused/fused_iterations.cuh"
#include "float_labeller.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_fused {

template <class T>
void enqueue_iterations(const IterationArguments& first, const IterationArguments& second,
                        int count, const Samples<T>& samples, const Configuration& configuration,
                        Device& device) {
  launch_for<T>(first.pass, samples.features, [&]<class Real, int D>() {
    launch_iterations<FloatLabeller<T, Real, D, CentroidSpace::shared>>(
        first, second, count, samples, {}, configuration, device, nullptr);
  });
}

template void enqueue_iterations(const IterationArguments&, const IterationArguments&, int,
                                 const Samples<float>&, const Configuration&, Device&);
template void enqueue_iterations(const IterationArguments&, const IterationArguments&, int,
                                 const Samples<double>&, const Configuration&, Device&);

}  // namespace lloyd_cuda_fused
