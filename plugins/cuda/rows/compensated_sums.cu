#include "cuda/rows/compensated_sums.hpp"

#include "cuda/device/check.hpp"

namespace lloyd_cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kWarpsPerBlock = 4;
// Labels that a lane reads at a time, and values that it reads before it adds them: both hide the
// latency of memory.
constexpr int kLabelsAhead = 4;
constexpr int kValuesAhead = 4;

// Neumaier's summation.
struct CompensatedSum {
  double sum;
  double correction;

  __device__ void add(double value) {
    const double next = __dadd_rn(sum, value);
    const double lost = fabs(sum) >= fabs(value) ? __dadd_rn(__dsub_rn(sum, next), value)
                                                 : __dadd_rn(__dsub_rn(value, next), sum);
    correction = __dadd_rn(correction, lost);
    sum = next;
  }
};

// A warp adds 32 features of one cluster: it looks for the rows of the cluster among all labels.
template <class T>
__global__ void compensated_kernel(lloyd::RowRange rows, Samples<T> samples,
                                   const std::int32_t* labels, std::int64_t clusters,
                                   Totals totals) {
  const std::int64_t d = samples.features;
  const std::int64_t chunks = (d + kWarp - 1) / kWarp;
  const std::int64_t task =
      static_cast<std::int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / kWarp;
  if (task >= clusters * chunks) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t cluster = task / chunks;
  const std::int64_t feature = task % chunks * kWarp + lane;
  const bool has_feature = feature < d;
  lloyd::SumWords* const words = totals.sums + cluster * d + feature;
  CompensatedSum sum{0, 0};
  if (has_feature) {
    sum.sum = __longlong_as_double(static_cast<long long>(words->low));
    sum.correction = __longlong_as_double(static_cast<long long>(words->high));
  }
  unsigned long long count = 0;
  for (std::int64_t first = rows.begin; first < rows.end; first += kWarp * kLabelsAhead) {
    std::int32_t read[kLabelsAhead];
#pragma unroll
    for (int q = 0; q < kLabelsAhead; ++q) {
      const std::int64_t row = first + q * kWarp + lane;
      read[q] = row < rows.end ? labels[row] : -1;
    }
#pragma unroll
    for (int q = 0; q < kLabelsAhead; ++q) {
      unsigned found = __ballot_sync(0xffffffffu, read[q] == cluster);
      count += static_cast<unsigned>(__popc(found));
      while (found != 0) {
        double values[kValuesAhead];
        int taken = 0;
#pragma unroll
        for (int v = 0; v < kValuesAhead; ++v) {
          values[v] = 0;
          if (found == 0) continue;
          const std::int64_t row = first + q * kWarp + __ffs(static_cast<int>(found)) - 1;
          found &= found - 1;
          ++taken;
          if (has_feature) {
            values[v] = static_cast<double>(samples.row(row)[feature * samples.feature_stride]);
          }
        }
#pragma unroll
        for (int v = 0; v < kValuesAhead; ++v) {
          if (v < taken) sum.add(values[v]);
        }
      }
    }
  }
  if (has_feature) {
    words->low = static_cast<std::uint64_t>(__double_as_longlong(sum.sum));
    words->high = static_cast<std::uint64_t>(__double_as_longlong(sum.correction));
  }
  if (feature == 0) totals.counts[cluster] += count;
}

}  // namespace

template <class T>
void enqueue_compensated_sums(lloyd::RowRange rows, const Samples<T>& samples,
                              const std::int32_t* labels, std::int64_t clusters,
                              const Totals& totals, cudaStream_t stream) {
  if (rows.size() == 0) return;
  const std::int64_t tasks = clusters * ((samples.features + kWarp - 1) / kWarp);
  const std::int64_t blocks = (tasks + kWarpsPerBlock - 1) / kWarpsPerBlock;
  compensated_kernel<T><<<static_cast<unsigned>(blocks), kWarp * kWarpsPerBlock, 0, stream>>>(
      rows, samples, labels, clusters, totals);
  check_launch("compensated_kernel");
}

template void enqueue_compensated_sums(lloyd::RowRange, const Samples<float>&, const std::int32_t*,
                                       std::int64_t, const Totals&, cudaStream_t);
template void enqueue_compensated_sums(lloyd::RowRange, const Samples<double>&, const std::int32_t*,
                                       std::int64_t, const Totals&, cudaStream_t);

}  // namespace lloyd_cuda
