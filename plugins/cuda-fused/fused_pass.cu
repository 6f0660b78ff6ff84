// The kernel that labels samples and, if fused, sums them in shared memory.
#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/device/constant_memory_lock.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/passes/finish_iteration.cuh"
#include "fused_pass.cuh"

namespace lloyd_cuda_fused {
namespace {

using lloyd_cuda::Finish;

// Blocks are not made smaller than this to fill the card.
constexpr int kMinBlockSize = 128;

template <class T, class Real, int D, CentroidSpace Space>
__global__ void __launch_bounds__(kMaxThreads<D>, 1)
    pass_kernel(Pass pass, Samples<T> samples, const Real* centroids, Configuration configuration,
                Finish finish) {
  extern __shared__ __align__(16) unsigned long long shared_memory[];
  if (!run_pass<T, Real, D, Space>(pass, samples, centroids, configuration, shared_memory)) return;
  if (finish.state == nullptr) return;
  finish_iteration(finish, *reinterpret_cast<lloyd_cuda::DecisionMemory*>(shared_memory));
}

template <class T, class Real, int D, CentroidSpace Space>
void launch(const Pass& pass, const Samples<T>& samples, const Real* centroids,
            const Configuration& configuration, Device& device, const Finish& finish) {
  // The fewer blocks there are, the fewer sums are added to the totals.
  const std::int64_t rows = pass.rows.size();
  int block_size = configuration.block_size;
  while (block_size > kMinBlockSize &&
         rows < static_cast<std::int64_t>(block_size) * kRows * device.limits.multiprocessors) {
    block_size = block_size / 64 * 32;
  }
  const bool accumulates = configuration.fused && pass.accumulates();
  std::int64_t bytes = configuration.centroids_bytes +
                       (accumulates ? configuration.tile_bytes : 0) +
                       (kCooperate<D> ? 0 : Configuration::queue_bytes(block_size));
  if (finish.state != nullptr) {
    bytes = std::max<std::int64_t>(bytes, sizeof(lloyd_cuda::DecisionMemory));
  }
  const auto kernel = pass_kernel<T, Real, D, Space>;
  lloyd_cuda::allow_shared_memory(kernel, bytes, device.limits.shared_bytes_per_block);
  const int resident = device.occupancy.blocks(kernel, block_size, bytes);
  const std::int64_t tile_rows = static_cast<std::int64_t>(block_size) * kRows;
  const std::int64_t tiles = (rows + tile_rows - 1) / tile_rows;
  const std::int64_t per_multiprocessor =
      std::clamp(kThreadsPerMultiprocessor / block_size, 1, resident);
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(tiles, device.limits.multiprocessors * per_multiprocessor));
  if constexpr (Space == CentroidSpace::constant) {
    const lloyd_cuda::ConstantMemoryLock lock(pass.stream);
    lloyd_cuda::check(cudaMemcpyToSymbolAsync(
                          constant_memory, centroids,
                          static_cast<std::size_t>(pass.clusters * samples.features) * sizeof(Real),
                          0, cudaMemcpyDeviceToDevice, pass.stream),
                      "copying centroids to constant memory");
    kernel<<<blocks, block_size, static_cast<std::size_t>(bytes), pass.stream>>>(
        pass, samples, centroids, configuration, finish);
  } else {
    kernel<<<blocks, block_size, static_cast<std::size_t>(bytes), pass.stream>>>(
        pass, samples, centroids, configuration, finish);
  }
  lloyd_cuda::check_launch("pass_kernel");
}

template <class T, class Real, int D>
void launch_in_space(const Pass& pass, const Samples<T>& samples, const Real* centroids,
                     const Configuration& configuration, Device& device, const Finish& finish) {
  switch (configuration.space) {
    case CentroidSpace::shared:
      launch<T, Real, D, CentroidSpace::shared>(pass, samples, centroids, configuration, device,
                                                finish);
      break;
    case CentroidSpace::constant:
      launch<T, Real, D, CentroidSpace::constant>(pass, samples, centroids, configuration, device,
                                                  finish);
      break;
    case CentroidSpace::global:
      launch<T, Real, D, CentroidSpace::global>(pass, samples, centroids, configuration, device,
                                                finish);
      break;
  }
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
    launch_in_space<T, Real, D>(pass, samples, centroids_of<Real>(pass), configuration, device,
                                finish);
  });
}

template void enqueue_pass(const Pass&, const Samples<float>&, const Configuration&, Device&,
                           const Finish&);
template void enqueue_pass(const Pass&, const Samples<double>&, const Configuration&, Device&,
                           const Finish&);

}  // namespace lloyd_cuda_fused
