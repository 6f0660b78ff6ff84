#include "cuda/relocation/farthest_pass.hpp"

#include <algorithm>
#include <cub/device/device_merge_sort.cuh>

#include "cuda/device/check.hpp"
#include "cuda/passes/distance.cuh"

namespace lloyd_cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kBlocks = 4096;

struct Farther {
  __device__ bool operator()(const lloyd::FarSample& a, const lloyd::FarSample& b) const {
    return a.squared_distance != b.squared_distance ? a.squared_distance > b.squared_distance
                                                    : a.row < b.row;
  }
};

// Candidates beyond the capacity are only counted.
template <class T>
__global__ void farthest_kernel(lloyd::RowRange rows, Samples<T> samples, const double* centroids,
                                const std::int32_t* labels, double threshold,
                                lloyd::FarSample* candidates, std::int64_t capacity,
                                unsigned long long* count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = rows.begin + static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       i < rows.end; i += step) {
    const std::int32_t label = labels[i];
    const double distance = exact_distance(samples, i, centroids + label * samples.features);
    if (!(distance > threshold)) continue;
    const auto at = static_cast<std::int64_t>(atomicAdd(count, 1ull));
    if (at < capacity) candidates[at] = {i, distance, label, 0};
  }
}

// Sorts by descending distance, then row. Without `memory`, only `bytes` is set.
void sort(lloyd::FarSample* samples, std::int64_t count, char* memory, std::size_t& bytes,
          cudaStream_t stream) {
  check(cub::DeviceMergeSort::SortKeys(memory, bytes, samples, count, Farther{}, stream),
        "sorting the farthest samples");
}

}  // namespace

FarthestPass::FarthestPass(std::int64_t wanted)
    : wanted_(wanted), samples_(wanted == 0 ? 0 : wanted + kPieceRows) {
  if (wanted == 0) return;
  std::size_t bytes = 0;
  sort(samples_.data(), samples_.size(), nullptr, bytes, nullptr);
  sorting_memory_.resize(static_cast<std::int64_t>(bytes));
}

template <class T>
void FarthestPass::add(lloyd::RowRange rows, const Samples<T>& samples, const double* centroids,
                       const std::int32_t* labels, cudaStream_t stream) {
  if (wanted_ == 0) return;
  std::int64_t rows_at_once = kPieceRows;
  for (std::int64_t begin = rows.begin; begin < rows.end;) {
    const lloyd::RowRange piece{begin, std::min(begin + rows_at_once, rows.end)};
    count_.fill_bytes(0, stream);
    const auto blocks = std::min((piece.size() + kThreads - 1) / kThreads, kBlocks);
    farthest_kernel<T><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
        piece, samples, centroids, labels, threshold_, samples_.data() + kept_, kPieceRows,
        count_.data());
    check_launch("farthest_kernel");
    unsigned long long found = 0;
    count_.download(&found, 1, stream);
    check(cudaStreamSynchronize(stream), "searching for the farthest samples");
    if (found > static_cast<unsigned long long>(kPieceRows)) {
      rows_at_once = kPieceRows;  // always fits
      continue;
    }
    keep_farthest(static_cast<std::int64_t>(found), stream);
    begin = piece.end;
    rows_at_once *= 4;
  }
}

void FarthestPass::keep_farthest(std::int64_t added, cudaStream_t stream) {
  if (added == 0) return;
  auto bytes = static_cast<std::size_t>(sorting_memory_.size());
  sort(samples_.data(), kept_ + added, sorting_memory_.data(), bytes, stream);
  kept_ = std::min(kept_ + added, wanted_);
  if (kept_ < wanted_) return;
  lloyd::FarSample last;
  samples_.download(&last, 1, stream, wanted_ - 1);
  check(cudaStreamSynchronize(stream), "copying the farthest samples");
  threshold_ = last.squared_distance;
}

std::vector<lloyd::FarSample> FarthestPass::sorted(cudaStream_t stream) const {
  std::vector<lloyd::FarSample> farthest(static_cast<std::size_t>(kept_));
  samples_.download(farthest.data(), kept_, stream);
  check(cudaStreamSynchronize(stream), "copying the farthest samples");
  return farthest;
}

template void FarthestPass::add(lloyd::RowRange, const Samples<float>&, const double*,
                                const std::int32_t*, cudaStream_t);
template void FarthestPass::add(lloyd::RowRange, const Samples<double>&, const double*,
                                const std::int32_t*, cudaStream_t);

}  // namespace lloyd_cuda
