#include "cuda-fast/conversions/converted_centroids.hpp"

#include <cuda_fp16.h>

#include <algorithm>

#include "cuda-fast/conversions/rounding.cuh"
#include "cuda/device/check.hpp"

namespace lloyd_cuda_fast {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr double kMaxHalf = 65504;

// Arguments of the kernels.
struct ConversionArguments {
  ScreenShape shape;
  std::int64_t clusters;
  std::int64_t features;
  __half* image;
  float* values;
  float* biases;
  ConvertedCentroids::State* state;

  // Value `column` (step 0 first) of the row of a centroid; `centroid` < parts * part_columns.
  __device__ __half& at(std::int64_t centroid, int column) const {
    const std::int64_t part = centroid / shape.part_columns;
    const std::int64_t row = centroid - part * shape.part_columns;
    const int block = column / (kImageSteps * kStepFeatures);
    const int in_block = column % (kImageSteps * kStepFeatures);
    const int chunk = in_block / 8 ^ static_cast<int>(row % 8);  // the 128-byte swizzle
    const std::int64_t first =
        (part * shape.image_sections + block) * shape.part_columns * 64 + row * 64;
    return image[first + chunk * 8 + in_block % 8];
  }
};

// Maxima over the centroids of a warp, then of a block.
__device__ void raise_maximum(float* largest, float value) {
  // Non-negative floats are ordered like their bits.
  atomicMax(reinterpret_cast<int*>(largest), __float_as_int(value));
}
__device__ void raise_maximum(CentroidNorms& largest, const CentroidNorms& norms) {
  raise_maximum(&largest.exact, norms.exact);
  raise_maximum(&largest.rounded, norms.rounded);
  raise_maximum(&largest.residual, norms.residual);
  raise_maximum(&largest.bias, norms.bias);
  raise_maximum(&largest.bias_residual, norms.bias_residual);
}
__device__ void raise_local_maximum(float& largest, double value) {
  largest = fmaxf(largest, __double2float_ru(value));
}

// Maxima that other blocks have written.
__device__ CentroidNorms load(const CentroidNorms& norms) {
  CentroidNorms loaded;
  loaded.exact = __ldcg(&norms.exact);
  loaded.rounded = __ldcg(&norms.rounded);
  loaded.residual = __ldcg(&norms.residual);
  loaded.bias = __ldcg(&norms.bias);
  loaded.bias_residual = __ldcg(&norms.bias_residual);
  return loaded;
}

__device__ __half clamped_half(double value) {
  return __double2half(fmin(fmax(value, -kMaxHalf), kMaxHalf));
}

// Splits a bias into three halves in kBiasUnit; returns the difference to their sum.
__device__ double store_bias(const ConversionArguments& forms, std::int64_t centroid, double bias) {
  double rest = bias / kBiasUnit;
  for (int part = 0; part < 3; ++part) {
    const __half half = clamped_half(rest);
    forms.at(centroid, part) = half;
    rest -= static_cast<double>(__half2float(half));
  }
  return fabs(rest) * kBiasUnit;
}

// The sums of squares of a centroid's rounded values and residuals.
struct RoundedSquares {
  double rounded = 0;
  double residual = 0;
  __device__ void add(double exact, double approximation) {
    rounded += approximation * approximation;
    residual += (exact - approximation) * (exact - approximation);
  }
  // `squared`: |e|^2; `bias_residual`: of the stored bias. All lanes of the warp must call it.
  __device__ void raise_norms(CentroidNorms& norms, double squared, double bias,
                              double bias_residual, const DeviceUnits& units) const {
    const double norm = sqrt(squared) * kMargin;
    raise_local_maximum(norms.exact, norm);
    raise_local_maximum(norms.rounded, sqrt(sum_of_warp(rounded)) * kMargin);
    raise_local_maximum(norms.residual, sqrt(sum_of_warp(residual)) * kMargin + norm * 0x1p-40);
    raise_local_maximum(norms.bias, bias * kMargin);
    raise_local_maximum(norms.bias_residual,
                        (bias_residual + units.underflow) * kMargin + squared * 0x1p-40);
  }
};

// mu: 1.25 times the error bound for centroids among the samples, plus 2^-6, so that no computed
// score is negative.
__device__ double choose_mu(const SampleNorms& largest, int steps) {
  CentroidNorms norms;
  norms.exact = norms.rounded = largest.rounded + largest.residual;
  norms.residual = norms.exact * 0x1p-11f;
  norms.bias = norms.exact * norms.exact;
  return 1.25 * score_error(largest.rounded, largest.residual, norms, steps) + 0x1p-6;
}

// One warp per centroid. The last block to end publishes the norms. The kernel runs even if the
// pass is halted: otherwise only some blocks might count as arrived.
__global__ void __launch_bounds__(kThreads)
    centroid_conversion_kernel(ConversionArguments forms, const double* centroids,
                               DeviceUnits units, const SampleNorms* largest) {
  __shared__ CentroidNorms image_norms;
  __shared__ CentroidNorms value_norms;
  const bool has_image = forms.image != nullptr;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const double mu = has_image ? choose_mu(*largest, forms.shape.steps) : 0;
  CentroidNorms own_image;
  CentroidNorms own_values;
  for (std::int64_t c = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
       c < forms.clusters; c += static_cast<std::int64_t>(gridDim.x) * (kThreads / 32)) {
    double squared = 0;
    RoundedSquares half_squares;
    RoundedSquares float_squares;
    for (std::int64_t j = lane; j < forms.features; j += 32) {
      const double value = (centroids[c * forms.features + j] - units.origin[j]) * units.scale;
      squared += value * value;
      // Clamped, so that no score overflows.
      const auto single = static_cast<float>(fmin(fmax(value, -1e15), 1e15));
      forms.values[c * forms.features + j] = -2 * single;
      float_squares.add(value, static_cast<double>(single));
      if (!has_image) continue;
      const __half half = clamped_half(-2 * value);
      forms.at(c, kStepFeatures + static_cast<int>(j)) = half;
      half_squares.add(value, static_cast<double>(__half2float(half)) / -2);
    }
    squared = sum_of_warp(squared);
    const auto bias = static_cast<float>(fmin(squared, 1e37));
    float_squares.raise_norms(own_values, squared, squared,
                              fabs(squared - static_cast<double>(bias)), units);
    if (lane == 0) forms.biases[c] = bias;
    if (!has_image) continue;
    double residual = 0;
    if (lane == 0) residual = store_bias(forms, c, squared + mu);
    residual = __shfl_sync(0xffffffffu, residual, 0);
    half_squares.raise_norms(own_image, squared, squared + mu, residual, units);
  }
  if (threadIdx.x == 0) {
    image_norms = {};
    value_norms = {};
  }
  __syncthreads();
  if (lane == 0) {
    raise_maximum(image_norms, own_image);
    raise_maximum(value_norms, own_values);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  ConvertedCentroids::State& state = *forms.state;
  raise_maximum(state.running_image, image_norms);
  raise_maximum(state.running_values, value_norms);
  __threadfence();
  if (atomicAdd(&state.arrived, 1) + 1 != gridDim.x) return;
  __threadfence();
  state.image = load(state.running_image);
  state.values = load(state.running_values);
  state.running_image = {};
  state.running_values = {};
  state.arrived = 0;
}

// Constants of the image: the factors for the bias of the sample, and, in columns beyond the last
// centroid, the largest bias, so that their scores exceed kMinPaddingScore.
__global__ void constants_kernel(ConversionArguments forms) {
  const std::int64_t columns = std::int64_t{forms.shape.parts} * forms.shape.part_columns;
  for (std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; c < columns;
       c += static_cast<std::int64_t>(gridDim.x) * kThreads) {
    for (int i = 3; i < 6; ++i) forms.at(c, i) = __half(static_cast<float>(kBiasUnit));
    if (c < forms.clusters) continue;
    for (int i = 0; i < 3; ++i) forms.at(c, i) = __half(static_cast<float>(kMaxHalf));
  }
}

}  // namespace

void ConvertedCentroids::prepare(const ScreenShape& shape, std::int64_t clusters,
                                 std::int64_t features, cudaStream_t stream) {
  shape_ = shape;
  clusters_ = clusters;
  features_ = features;
  values_.resize(clusters * features);
  biases_.resize(clusters);
  state_.resize(1);
  state_.fill_bytes(0, stream);
  if (!shape.is_feasible()) return;
  image_.resize(shape.parts * shape.part_bytes() / static_cast<std::int64_t>(sizeof(uint4)));
  image_.fill_bytes(0, stream);
  constexpr int kBlocks = 64;
  constants_kernel<<<kBlocks, kThreads, 0, stream>>>(
      {shape_, clusters_, features_, reinterpret_cast<__half*>(image_.data()), values_.data(),
       biases_.data(), state_.data()});
  lloyd_cuda::check_launch("constants_kernel");
}

void ConvertedCentroids::enqueue(const double* centroids, const DeviceUnits& units,
                                 const SampleNorms* largest, int multiprocessors,
                                 cudaStream_t stream) const {
  const ConversionArguments forms{
      shape_,         clusters_,      features_,    reinterpret_cast<__half*>(image_.data()),
      values_.data(), biases_.data(), state_.data()};
  const std::int64_t blocks =
      std::min<std::int64_t>((clusters_ + kThreads / 32 - 1) / (kThreads / 32),
                             multiprocessors * kBlocksPerMultiprocessor);
  centroid_conversion_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      forms, centroids, units, largest);
  lloyd_cuda::check_launch("centroid_conversion_kernel");
}

}  // namespace lloyd_cuda_fast
