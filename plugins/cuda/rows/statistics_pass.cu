#include "cuda/rows/statistics_pass.hpp"

#include <algorithm>
#include <vector>

#include <lloyd/plugin/sdk/row_statistics.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/device/check.hpp"

namespace lloyd_cuda {
namespace {

using lloyd::BlockStatistics;
using lloyd::kStatisticsBlockRows;

constexpr int kThreads = 128;
constexpr std::int64_t kBlocks = 4096;
// Maximum number of block statistics in device memory, unless one block of rows has more: 12 MiB.
constexpr std::int64_t kMaxCells = std::int64_t{1} << 18;
constexpr unsigned long long kNone = ~0ull;

/// What the kernel finds in all values. The index of a value is row x d + feature.
struct ValueChecks {
  unsigned long long hash;           ///< RowsDescription::hash
  unsigned long long first_invalid;  ///< least index of a value that is not finite; kNone: none
};

__device__ unsigned long long bits_of(float value) {
  return __float_as_uint(value);
}
__device__ unsigned long long bits_of(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}

// lloyd::lowest_bit_exponent().
__device__ int lowest_bit(double value) {
  const unsigned long long bits = bits_of(value);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  unsigned long long mantissa = bits & ((1ull << 52) - 1);
  if (exponent > 0) mantissa |= 1ull << 52;
  return (exponent > 0 ? exponent : 1) - 1075 + __ffsll(static_cast<long long>(mantissa)) - 1;
}

// Cell i is feature i % d of block `first_block` + i / d. The additions are those of
// BlockStatistics::add(), in row order.
template <class T>
__global__ void statistics_kernel(Samples<T> samples, std::int64_t rows, std::int64_t first_block,
                                  std::int64_t cells, BlockStatistics* found, ValueChecks* checks) {
  const std::int64_t d = samples.features;
  unsigned long long hash = 0;
  unsigned long long first_invalid = kNone;
  for (std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       cell < cells; cell += static_cast<std::int64_t>(gridDim.x) * kThreads) {
    const std::int64_t feature = cell % d;
    const std::int64_t begin = (first_block + cell / d) * kStatisticsBlockRows;
    const std::int64_t rest = rows - begin;
    const int count = static_cast<int>(rest < kStatisticsBlockRows ? rest : kStatisticsBlockRows);
    const T* x = samples.row(begin) + feature * samples.feature_stride;
    auto index = static_cast<unsigned long long>(begin * d + feature);
    const double origin = static_cast<double>(*x);
    double sum = 0;
    double squares = 0;
    double minimum = origin;
    double maximum = origin;
    std::int32_t least_bit = 0x7fffffff;
#pragma unroll 8
    for (int i = 0; i < count; ++i) {
      const T read = *x;
      const double value = static_cast<double>(read);
      hash += lloyd::value_hash(index, bits_of(read));
      if (!isfinite(value) && index < first_invalid) first_invalid = index;
      minimum = value < minimum ? value : minimum;
      maximum = maximum < value ? value : maximum;
      if (value != 0) {
        const int bit = lowest_bit(value);
        least_bit = bit < least_bit ? bit : least_bit;
      }
      const double deviation = __dsub_rn(value, origin);
      sum = __dadd_rn(sum, deviation);
      squares = __dadd_rn(squares, __dmul_rn(deviation, deviation));
      x += samples.row_stride;
      index += static_cast<unsigned long long>(d);
    }
    BlockStatistics& cell_found = found[cell];
    cell_found.origin = origin;
    cell_found.sum = sum;
    cell_found.squares = squares;
    cell_found.minimum = minimum;
    cell_found.maximum = maximum;
    cell_found.lowest_bit = least_bit;
    cell_found.reserved = 0;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    hash += __shfl_down_sync(0xffffffffu, hash, offset);
    const unsigned long long other = __shfl_down_sync(0xffffffffu, first_invalid, offset);
    first_invalid = other < first_invalid ? other : first_invalid;
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&checks->hash, hash);
  if (first_invalid != kNone) atomicMin(&checks->first_invalid, first_invalid);
}

}  // namespace

template <class T>
void describe_samples(const Samples<T>& samples, std::int64_t rows,
                      lloyd::RowsDescription& description, cudaStream_t stream) {
  const std::int64_t d = samples.features;
  const std::int64_t blocks = (rows + kStatisticsBlockRows - 1) / kStatisticsBlockRows;
  const std::int64_t blocks_at_once = std::clamp<std::int64_t>(kMaxCells / d, 1, blocks);
  const DeviceBuffer<BlockStatistics> found(blocks_at_once * d);
  const DeviceBuffer<ValueChecks> device_checks(1);
  ValueChecks checks{0, kNone};
  device_checks.upload(&checks, 1, stream);
  lloyd::StatisticsMerge merge(d);
  std::vector<BlockStatistics> fetched;
  for (std::int64_t first = 0; first < blocks; first += blocks_at_once) {
    const std::int64_t cells = std::min(blocks_at_once, blocks - first) * d;
    const std::int64_t grid = std::min((cells + kThreads - 1) / kThreads, kBlocks);
    statistics_kernel<T><<<static_cast<unsigned>(grid), kThreads, 0, stream>>>(
        samples, rows, first, cells, found.data(), device_checks.data());
    check_launch("statistics_kernel");
    fetched.resize(static_cast<std::size_t>(cells));
    found.download(fetched.data(), cells, stream);
    check(cudaStreamSynchronize(stream), "computing the statistics of the samples");
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const std::int64_t begin = (first + cell / d) * kStatisticsBlockRows;
      merge.add(cell % d, std::min(kStatisticsBlockRows, rows - begin),
                fetched[static_cast<std::size_t>(cell)]);
    }
  }
  device_checks.download(&checks, 1, stream);
  check(cudaStreamSynchronize(stream), "computing the statistics of the samples");
  description.hash = checks.hash;
  description.invalid_row = description.invalid_feature = -1;
  if (checks.first_invalid != kNone) {
    description.invalid_row = static_cast<std::int64_t>(checks.first_invalid) / d;
    description.invalid_feature = static_cast<std::int64_t>(checks.first_invalid) % d;
  }
  merge.write(description.statistics);
}

template void describe_samples(const Samples<float>&, std::int64_t, lloyd::RowsDescription&,
                               cudaStream_t);
template void describe_samples(const Samples<double>&, std::int64_t, lloyd::RowsDescription&,
                               cudaStream_t);

}  // namespace lloyd_cuda
