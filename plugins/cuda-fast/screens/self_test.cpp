#include "cuda-fast/screens/self_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "cuda-fast/conversions/converted_centroids.hpp"
#include "cuda-fast/conversions/sample_fragments.hpp"
#include "cuda/device/buffer.hpp"

namespace lloyd_cuda_fast {
namespace {

constexpr std::int64_t kSamples = 2 * kTileRows;
constexpr std::int64_t kFeatures = 128;
constexpr std::int64_t kParts = 2;
constexpr std::int64_t kClusters = kParts * kTileColumns;

// Vectors of values that FP16 represents exactly. In every second one, one value is so large that
// products of the others are below the last bit kept beside its product.
template <class T>
std::vector<T> test_vectors(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < kFeatures; ++j) {
      const auto mantissa = static_cast<double>(1024 + random() % 1024);
      const bool is_large = i % 2 == 0 && j == i % kFeatures;
      const int exponent = is_large ? -3 : i % 2 == 0 ? -16 : -10 - static_cast<int>(random() % 8);
      const double sign = i % 4 < 2 || random() % 2 == 0 ? 1 : -1;
      values.push_back(static_cast<T>(sign * std::ldexp(mantissa, exponent)));
    }
  }
  return values;
}

// The scores of one sample, without the constant that is added to all of them.
std::vector<double> exact_scores(const float* y, const std::vector<double>& centroids) {
  std::vector<double> scores;
  for (std::int64_t c = 0; c < kClusters; ++c) {
    double squared_distance = 0;  // its rounding errors are far below the bound
    for (std::int64_t j = 0; j < kFeatures; ++j) {
      const double difference =
          static_cast<double>(y[j]) - centroids[static_cast<std::size_t>(c * kFeatures + j)];
      squared_distance += difference * difference;
    }
    scores.push_back(squared_distance);
  }
  return scores;
}

bool run_self_test(ScreenPath path, const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream) {
  const std::vector<float> samples = test_vectors<float>(kSamples, 1);
  const std::vector<double> centroids = test_vectors<double>(kClusters, 2);
  lloyd_cuda::DeviceBuffer<float> device_samples(kSamples * kFeatures);
  lloyd_cuda::DeviceBuffer<double> device_centroids(kClusters * kFeatures);
  lloyd_cuda::DeviceBuffer<double> origin(kFeatures);
  device_samples.upload(samples.data(), kSamples * kFeatures, stream);
  device_centroids.upload(centroids.data(), kClusters * kFeatures, stream);
  origin.fill_bytes(0, stream);
  const DeviceUnits units{origin.data(), 1, 0};

  Screen screen;
  screen.shape.steps = steps_for(kFeatures);
  screen.shape.image_sections = (screen.shape.steps + kImageSteps - 1) / kImageSteps;
  screen.shape.part_columns = kTileColumns;
  screen.shape.parts = kParts;
  screen.shape.blocks_per_part = 1;
  lloyd_cuda::DeviceBuffer<uint4> fragments(kSamples / 16 * screen.shape.steps * 32);
  lloyd_cuda::DeviceBuffer<float2> norms(kSamples);
  lloyd_cuda::DeviceBuffer<SampleNorms> largest(1);
  largest.fill_bytes(0, stream);
  screen.fragments = {fragments.data(), norms.data(), 0, screen.shape.steps};
  screen.rows = {0, kSamples};
  screen.clusters = kClusters;
  enqueue_sample_conversion(
      lloyd_cuda::Samples<float>{device_samples.data(), 0, kFeatures, 1, kFeatures}, screen.rows,
      units, screen.fragments, largest.data(), nullptr, stream);
  ConvertedCentroids forms;
  forms.prepare(screen.shape, kClusters, kFeatures, stream);
  forms.enqueue(device_centroids.data(), units, largest.data(), limits.multiprocessors, stream);
  screen.image = forms.image();
  lloyd_cuda::DeviceBuffer<std::int32_t> halt(1);
  halt.fill_bytes(0, stream);
  screen.halt = halt.data();
  lloyd_cuda::DeviceBuffer<float> best(kParts * kSamples);
  lloyd_cuda::DeviceBuffer<float> second(kParts * kSamples);
  lloyd_cuda::DeviceBuffer<std::int32_t> nearest(kParts * kSamples);
  enqueue_screen(screen, path, {best.data(), second.data(), nearest.data(), kSamples}, limits,
                 stream);

  std::vector<float> scores(static_cast<std::size_t>(kParts * kSamples));
  std::vector<float> seconds(scores.size());
  std::vector<std::int32_t> labels(scores.size());
  std::vector<float2> sample_norms(static_cast<std::size_t>(kSamples));
  std::vector<CentroidNorms> centroid_norms(1);
  best.download(scores.data(), best.size(), stream);
  second.download(seconds.data(), second.size(), stream);
  nearest.download(labels.data(), nearest.size(), stream);
  norms.download(sample_norms.data(), kSamples, stream);
  lloyd_cuda::check(cudaMemcpyAsync(centroid_norms.data(), forms.image_norms(),
                                    sizeof(CentroidNorms), cudaMemcpyDeviceToHost, stream),
                    "copying norms");
  lloyd_cuda::check(cudaStreamSynchronize(stream), "testing the tensor cores");

  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::vector<double> exact = exact_scores(samples.data() + i * kFeatures, centroids);
    const float2 norm = sample_norms[static_cast<std::size_t>(i)];
    const ScreenError error =
        ScreenError::of_image(norm.x, norm.y, centroid_norms[0], screen.shape.steps);
    for (std::int64_t part = 0; part < kParts; ++part) {
      const auto at = static_cast<std::size_t>(part * kSamples + i);
      const auto first = exact.begin() + part * kTileColumns;
      std::vector<double> sorted(first, first + kTileColumns);
      std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.end());
      const std::int64_t label = labels[at];
      if (label < part * kTileColumns || label >= (part + 1) * kTileColumns) return false;
      // The difference of the two lowest scores, in which what is added to all scores cancels.
      const double computed = static_cast<double>(seconds[at]) - static_cast<double>(scores[at]);
      const auto packing = static_cast<double>(error.packing(scores[at], seconds[at]));
      const double lowest = sorted[0];
      const double tolerance =
          static_cast<double>(error.above(scores[at]) + error.below(seconds[at])) + packing;
      if (!(std::abs(computed - (sorted[1] - lowest)) <= tolerance)) return false;
      if (!(exact[static_cast<std::size_t>(label)] - lowest <= tolerance)) return false;
    }
  }
  return true;
}

}  // namespace

bool passes_self_test(ScreenPath path, const lloyd_cuda::DeviceLimits& limits,
                      cudaStream_t stream) {
  static std::mutex mutex;
  static std::map<std::pair<int, ScreenPath>, bool> results;
  const std::lock_guard lock(mutex);
  const auto known = results.find({limits.device, path});
  if (known != results.end()) return known->second;
  const bool passes = run_self_test(path, limits, stream);
  results.emplace(std::pair(limits.device, path), passes);
  return passes;
}

}  // namespace lloyd_cuda_fast
