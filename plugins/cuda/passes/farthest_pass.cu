#include "cuda/passes/farthest_pass.hpp"

#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/passes/distance.cuh"

namespace lloyd_cuda {
namespace {

constexpr int kThreads = 256;

bool farther(const lloyd::FarSample& a, const lloyd::FarSample& b) {
  return a.squared_distance != b.squared_distance ? a.squared_distance > b.squared_distance
                                                  : a.row < b.row;
}

template <class T>
__global__ void farthest_kernel(lloyd::RowRange rows, Samples<T> samples, const double* centroids,
                                const std::int32_t* labels, double threshold,
                                lloyd::FarSample* candidates, unsigned int* count) {
  const std::int64_t i =
      rows.begin + static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows.end) return;
  const std::int32_t label = labels[i];
  const double distance = exact_distance(samples, i, centroids + label * samples.features);
  if (distance > threshold) candidates[atomicAdd(count, 1u)] = {i, distance, label, 0};
}

}  // namespace

template <class T>
void FarthestPass::add(lloyd::RowRange rows, const Samples<T>& samples, const double* centroids,
                       const std::int32_t* labels, cudaStream_t stream) {
  if (wanted_ == 0) return;
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += kPieceRows) {
    const lloyd::RowRange piece{begin, std::min(begin + kPieceRows, rows.end)};
    count_.fill_bytes(0, stream);
    const auto blocks = static_cast<int>((piece.size() + kThreads - 1) / kThreads);
    farthest_kernel<T><<<blocks, kThreads, 0, stream>>>(
        piece, samples, centroids, labels, threshold_, candidates_.data(), count_.data());
    check_launch("farthest_kernel");
    unsigned int found = 0;
    count_.download(&found, 1, stream);
    check(cudaStreamSynchronize(stream), "searching for the farthest samples");
    const std::size_t kept = farthest_.size();
    farthest_.resize(kept + found);
    candidates_.download(farthest_.data() + kept, found, stream);
    check(cudaStreamSynchronize(stream), "copying the farthest samples");
    keep_farthest();
  }
}

void FarthestPass::keep_farthest() {
  const auto wanted = static_cast<std::size_t>(wanted_);
  if (farthest_.size() < wanted) return;
  const auto last = farthest_.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::nth_element(farthest_.begin(), last, farthest_.end(), farther);
  farthest_.resize(wanted);
  threshold_ = farthest_.back().squared_distance;
}

std::vector<lloyd::FarSample> FarthestPass::sorted() {
  std::sort(farthest_.begin(), farthest_.end(), farther);
  return farthest_;
}

template void FarthestPass::add(lloyd::RowRange, const Samples<float>&, const double*,
                                const std::int32_t*, cudaStream_t);
template void FarthestPass::add(lloyd::RowRange, const Samples<double>&, const double*,
                                const std::int32_t*, cudaStream_t);

}  // namespace lloyd_cuda
