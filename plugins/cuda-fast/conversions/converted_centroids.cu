#include "cuda-fast/conversions/converted_centroids.hpp"

#include <cuda_fp16.h>

#include <algorithm>

#include "cuda-fast/conversions/rounded_form.cuh"
#include "cuda/device/check.hpp"

namespace lloyd_cuda_fast {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kLoads = 4;  // values that a thread loads at a time
constexpr double kMaxHalf = 65504;

// Arguments of the kernels.
struct ConversionArguments {
  ScreenShape shape;
  std::int64_t clusters;
  std::int64_t features;
  __half* image;
  float* values;
  float* biases;
  std::uint8_t* far;
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

// Maxima that other blocks have written.
__device__ CentroidNorms load(const CentroidNorms& norms) {
  CentroidNorms loaded;
  loaded.residual_ratio = __ldcg(&norms.residual_ratio);
  loaded.bias_residual = __ldcg(&norms.bias_residual);
  loaded.mu = __ldcg(&norms.mu);
  loaded.has_far = __ldcg(&norms.has_far);
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

// mu: 1.25 times the error bound for centroids among the samples, plus 2^-6, so that no computed
// score is negative.
__device__ double choose_mu(const SampleNorms& largest, int steps) {
  CentroidNorms norms;
  norms.residual_ratio = 0x1p-11f;
  const ScreenError error = ScreenError::of_image(largest.rounded, largest.residual, norms, steps);
  return 1.25 * error.at(2 * (largest.rounded + largest.residual)) + 0x1p-6;
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
  const double nu0 = sqrt(static_cast<double>(forms.shape.steps)) * 0x1p-24;
  CentroidNorms own_image;
  CentroidNorms own_values;
  for (std::int64_t c = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
       c < forms.clusters; c += static_cast<std::int64_t>(gridDim.x) * (kThreads / 32)) {
    double squared = 0;
    RoundedForm halves;
    RoundedForm singles;
    for (std::int64_t first = lane; first < forms.features; first += 32 * kLoads) {
      double values[kLoads];  // loaded together, before the stores
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        const std::int64_t j = first + 32 * i;
        values[i] = j < forms.features ? centroids[c * forms.features + j] - units.origin[j] : 0;
      }
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        const std::int64_t j = first + 32 * i;
        if (j >= forms.features) continue;
        const double value = values[i] * units.scale;
        squared += value * value;
        const float single = clamped_single(value);
        forms.values[c * forms.features + j] = -2 * single;
        singles.add(value, static_cast<double>(single), !(fabs(value) <= kMaxSingle));
        if (!has_image) continue;
        const __half half = clamped_half(-2 * value);
        forms.at(c, kStepFeatures + static_cast<int>(j)) = half;
        halves.add(value, static_cast<double>(__half2float(half)) / -2,
                   !(fabs(2 * value) <= kMaxHalf));
      }
    }
    squared = sum_of_warp(squared);
    singles.reduce();
    singles.raise_norms(own_values, squared, kSingleUnderflow, units.underflow);
    if (lane == 0) forms.biases[c] = static_cast<float>(singles.squared_norm(squared));
    unsigned int far = singles.is_far ? kFarInValues : 0;
    if (has_image) {
      halves.reduce();
      const double bias = halves.squared_norm(squared) + mu;
      // The three halves of a bias are clamped, too.
      halves.is_far |= !(bias < static_cast<double>(kMinPaddingScore));
      double residual = 0;
      if (lane == 0) residual = store_bias(forms, c, bias);
      residual = __shfl_sync(0xffffffffu, residual, 0);
      halves.raise_norms(own_image, squared, nu0, residual + units.underflow);
      if (halves.is_far) far |= kFarInImage;
    }
    if (lane == 0) forms.far[c] = static_cast<std::uint8_t>(far);
  }
  raise_local_maximum(own_image.mu, mu);
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
  far_.resize(clusters);
  state_.resize(1);
  state_.fill_bytes(0, stream);
  if (!shape.is_feasible()) return;
  image_.resize(shape.parts * shape.part_bytes() / static_cast<std::int64_t>(sizeof(uint4)));
  image_.fill_bytes(0, stream);
  constexpr int kBlocks = 64;
  constants_kernel<<<kBlocks, kThreads, 0, stream>>>(
      {shape_, clusters_, features_, reinterpret_cast<__half*>(image_.data()), values_.data(),
       biases_.data(), far_.data(), state_.data()});
  lloyd_cuda::check_launch("constants_kernel");
}

void ConvertedCentroids::enqueue(const double* centroids, const DeviceUnits& units,
                                 const SampleNorms* largest, int multiprocessors,
                                 cudaStream_t stream) const {
  const ConversionArguments forms{
      shape_,         clusters_,      features_,   reinterpret_cast<__half*>(image_.data()),
      values_.data(), biases_.data(), far_.data(), state_.data()};
  const std::int64_t blocks =
      std::min<std::int64_t>((clusters_ + kThreads / 32 - 1) / (kThreads / 32),
                             multiprocessors * kBlocksPerMultiprocessor);
  centroid_conversion_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      forms, centroids, units, largest);
  lloyd_cuda::check_launch("centroid_conversion_kernel");
}

}  // namespace lloyd_cuda_fast
