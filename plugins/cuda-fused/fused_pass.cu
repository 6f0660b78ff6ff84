// The kernel that labels samples and, if fused, sums them in shared memory.
#include "cuda/device/constant_memory_lock.hpp"
#include "float_labeller.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_fused {
namespace {

template <class T, class Real, int D>
void launch_in_space(const Pass& pass, const Samples<T>& samples,
                     const Configuration& configuration, Device& device, const Finish& finish) {
  switch (configuration.space) {
    case CentroidSpace::shared:
      return launch_pass<FloatLabeller<T, Real, D, CentroidSpace::shared>>(
          pass, samples, {}, configuration, device, finish);
    case CentroidSpace::global:
      return launch_pass<FloatLabeller<T, Real, D, CentroidSpace::global>>(
          pass, samples, {}, configuration, device, finish);
    case CentroidSpace::constant:
      break;
  }
  const lloyd_cuda::ConstantMemoryLock lock(pass.stream);
  const void* const centroids =
      sizeof(Real) == sizeof(float) ? static_cast<const void*>(pass.rounded) : pass.centroids;
  lloyd_cuda::check(cudaMemcpyToSymbolAsync(
                        constant_memory, centroids,
                        static_cast<std::size_t>(pass.clusters * samples.features) * sizeof(Real),
                        0, cudaMemcpyDeviceToDevice, pass.stream),
                    "copying centroids to constant memory");
  launch_pass<FloatLabeller<T, Real, D, CentroidSpace::constant>>(pass, samples, {}, configuration,
                                                                  device, finish);
}

}  // namespace

lloyd_cuda::Layout layout_for(std::int64_t features, bool float32) {
  const bool cooperate = float32 && (features == 8 || features == 16 || features == 32);
  return cooperate ? lloyd_cuda::Layout::aos : lloyd_cuda::Layout::soa;
}

template <class T>
void enqueue_pass(const Pass& pass, const Samples<T>& samples, const Configuration& configuration,
                  Device& device, const Finish& finish) {
  if (pass.rows.size() == 0) return;
  launch_for<T>(pass, samples.features, [&]<class Real, int D>() {
    launch_in_space<T, Real, D>(pass, samples, configuration, device, finish);
  });
}

template void enqueue_pass(const Pass&, const Samples<float>&, const Configuration&, Device&,
                           const Finish&);
template void enqueue_pass(const Pass&, const Samples<double>&, const Configuration&, Device&,
                           const Finish&);

}  // namespace lloyd_cuda_fused
