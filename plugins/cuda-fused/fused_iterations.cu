// The kernel that runs iterations of a small fit in one block.
#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/passes/finish_iteration.cuh"
#include "fused_pass.cuh"

namespace lloyd_cuda_fused {
namespace {

using lloyd_cuda::IterationArguments;

// `count` iterations by one block, which alternate between two sets of arguments.
template <class T, class Real, int D>
__global__ void __launch_bounds__(kMaxThreads<D>, 1)
    iterations_kernel(IterationArguments first, IterationArguments second, int count,
                      Samples<T> samples, Configuration configuration) {
  extern __shared__ __align__(16) unsigned long long shared_memory[];
  auto& memory = *reinterpret_cast<lloyd_cuda::DecisionMemory*>(shared_memory);
  const auto iterate = [&](const IterationArguments& arguments) {
    const auto* const centroids = centroids_of<Real>(arguments.pass);
    if (!run_pass<T, Real, D, CentroidSpace::shared>(arguments.pass, samples, centroids,
                                                     configuration, shared_memory)) {
      return false;
    }
    finish_in_one_block(arguments.finish, memory);
    return true;
  };
  for (int i = 0; i < count; i += 2) {
    if (!iterate(first) || (i + 1 < count && !iterate(second))) return;
  }
}

template <class T, class Real, int D>
void launch_iterations(const IterationArguments& first, const IterationArguments& second, int count,
                       const Samples<T>& samples, const Configuration& configuration,
                       Device& device) {
  const std::int64_t bytes =
      std::max<std::int64_t>(configuration.centroids_bytes + configuration.tile.bytes(),
                             sizeof(lloyd_cuda::DecisionMemory));
  const auto kernel = iterations_kernel<T, Real, D>;
  lloyd_cuda::allow_shared_memory(kernel, bytes, device.limits.shared_bytes_per_block);
  kernel<<<1, static_cast<unsigned>(configuration.block_size), static_cast<std::size_t>(bytes),
           first.pass.stream>>>(first, second, count, samples, configuration);
  lloyd_cuda::check_launch("iterations_kernel");
}

}  // namespace

template <class T>
void enqueue_iterations(const IterationArguments& first, const IterationArguments& second,
                        int count, const Samples<T>& samples, const Configuration& configuration,
                        Device& device) {
  launch_for<T>(first.pass, samples.features, [&]<class Real, int D>() {
    launch_iterations<T, Real, D>(first, second, count, samples, configuration, device);
  });
}

template void enqueue_iterations(const IterationArguments&, const IterationArguments&, int,
                                 const Samples<float>&, const Configuration&, Device&);
template void enqueue_iterations(const IterationArguments&, const IterationArguments&, int,
                                 const Samples<double>&, const Configuration&, Device&);

}  // namespace lloyd_cuda_fused
