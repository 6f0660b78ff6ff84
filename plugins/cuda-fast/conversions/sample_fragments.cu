#include "cuda-fast/conversions/sample_fragments.hpp"

#include <cuda_fp16.h>

#include <algorithm>

#include "cuda-fast/conversions/rounding.cuh"
#include "cuda/device/check.hpp"
#include "cuda/passes/halt_flag.cuh"

namespace lloyd_cuda_fast {
namespace {

using lloyd_cuda::Samples;

constexpr int kThreads = 256;
constexpr int kRowsPerBlock = kThreads / 32;
constexpr int kMaxBlocks = 8192;

__device__ unsigned int bits_of(__half2 pair) {
  return *reinterpret_cast<const unsigned int*>(&pair);
}

// The word of two neighbouring features of a row: features 2 pair and 2 pair + 1 of a step.
__device__ unsigned int* word_of(const Fragments& fragments, std::int64_t row, int step, int pair) {
  const std::int64_t group = row / 16;
  const int lane = static_cast<int>(row % 8) * 4 + pair % 4;
  const int word = static_cast<int>(row % 16) / 8 + pair / 4 * 2;
  uint4* const fragment = fragments.values + (group * fragments.steps + step) * 32 + lane;
  return reinterpret_cast<unsigned int*>(fragment) + word;
}

// Raises a maximum, by an atomic operation only if that seems to change it.
__device__ void raise_maximum(float* largest, float value) {
  if (value <= __ldcg(largest)) return;
  // Non-negative floats are ordered like their bits.
  atomicMax(reinterpret_cast<int*>(largest), __float_as_int(value));
}

// One warp per row. Rows after the last one, up to the end of its tile, are zeros.
template <class T>
__global__ void sample_conversion_kernel(Samples<T> samples, lloyd::RowRange rows,
                                         DeviceUnits units, Fragments fragments,
                                         SampleNorms* largest, const std::int32_t* halt) {
  if (halt != nullptr && lloyd_cuda::block_halted(halt)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t padded = (rows.size() + kTileRows - 1) / kTileRows * kTileRows;
  float2 largest_norms{0, 0};
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / 32;
       i < padded; i += static_cast<std::int64_t>(gridDim.x) * kRowsPerBlock) {
    const bool exists = i < rows.size();
    const T* const x = samples.row(rows.begin + (exists ? i : 0));
    double squared = 0;           // |y|^2
    double squared_rounded = 0;   // |y'|^2
    double squared_residual = 0;  // |y - y'|^2
    const auto rounded = [&](std::int64_t j) {
      if (!exists || j >= samples.features) return __half(0.0f);
      const double value =
          (static_cast<double>(x[j * samples.feature_stride]) - units.origin[j]) * units.scale;
      const __half half = __double2half(value);
      const double back = static_cast<double>(__half2float(half));
      squared += value * value;
      squared_rounded += back * back;
      squared_residual += (value - back) * (value - back);
      return half;
    };
    for (int pair = lane; pair < (fragments.steps - 1) * 8; pair += 32) {
      const __half first = rounded(2 * pair);
      const __half second = rounded(2 * pair + 1);
      *word_of(fragments, i, 1 + pair / 8, pair % 8) = bits_of(__halves2half2(first, second));
    }
    squared = sum_of_warp(squared);
    squared_rounded = sum_of_warp(squared_rounded);
    squared_residual = sum_of_warp(squared_residual);
    if (lane < 8) {
      // Step 0: three factors for the bias of a centroid, and the bias of the sample, |y|^2, whose
      // factors are in the centroid image.
      const double bias = squared / kBiasUnit;
      const __half high = __double2half(bias);
      const double rest = bias - static_cast<double>(__half2float(high));
      const __half middle = __double2half(rest);
      const __half low = __double2half(rest - static_cast<double>(__half2float(middle)));
      const __half unit(exists ? static_cast<float>(kBiasUnit) : 0.0f);
      const __half zero(0.0f);
      __half2 word = __halves2half2(zero, zero);
      if (lane == 0) word = __halves2half2(unit, unit);
      if (lane == 1) word = __halves2half2(unit, high);
      if (lane == 2) word = __halves2half2(middle, low);
      *word_of(fragments, i, 0, lane) = bits_of(word);
    }
    if (lane != 0 || !exists) continue;
    const double norm = sqrt(squared_rounded) * kMargin;
    const double residual = sqrt(squared_residual) * kMargin + norm * 0x1p-40;
    const float2 norms{__double2float_ru(norm), __double2float_ru(residual)};
    fragments.norms[i] = norms;
    largest_norms.x = fmaxf(largest_norms.x, norms.x);
    largest_norms.y = fmaxf(largest_norms.y, norms.y);
  }
  if (lane != 0) return;
  raise_maximum(&largest->rounded, largest_norms.x);
  raise_maximum(&largest->residual, largest_norms.y);
}

}  // namespace

ResidentUnits::ResidentUnits(const lloyd::DatasetView& dataset) : units_(choose_units(dataset)) {
  origin_.resize(dataset.features);
  lloyd_cuda::check(cudaMemcpy(origin_.data(), units_.origin.data(),
                               units_.origin.size() * sizeof(double), cudaMemcpyHostToDevice),
                    "copying the origin to the device");
  lloyd_cuda::check(cudaStreamSynchronize(cudaStreamLegacy), "copying the origin to the device");
}

template <class T>
void enqueue_sample_conversion(const Samples<T>& samples, lloyd::RowRange rows,
                               const DeviceUnits& units, const Fragments& fragments,
                               SampleNorms* largest, const std::int32_t* halt,
                               cudaStream_t stream) {
  if (rows.size() == 0) return;
  const std::int64_t blocks = (rows.size() + kTileRows + kRowsPerBlock - 1) / kRowsPerBlock;
  sample_conversion_kernel<T>
      <<<static_cast<unsigned>(std::min<std::int64_t>(blocks, kMaxBlocks)), kThreads, 0, stream>>>(
          samples, rows, units, fragments, largest, halt);
  lloyd_cuda::check_launch("sample_conversion_kernel");
}

template void enqueue_sample_conversion(const Samples<float>&, lloyd::RowRange, const DeviceUnits&,
                                        const Fragments&, SampleNorms*, const std::int32_t*,
                                        cudaStream_t);
template void enqueue_sample_conversion(const Samples<double>&, lloyd::RowRange, const DeviceUnits&,
                                        const Fragments&, SampleNorms*, const std::int32_t*,
                                        cudaStream_t);

}  // namespace lloyd_cuda_fast
