// FarthestSamples: the candidates for relocating empty clusters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <lloyd/plugin/abi/requests.hpp>

namespace lloyd {

/// Keeps, of all samples added, the m with the largest distances to their own centroids.
/// Samples at distance 0 are ignored. Order: descending distance, then ascending row.
class FarthestSamples {
 public:
  /// Allocates for m = `wanted` samples, so that add() does not throw.
  explicit FarthestSamples(std::int64_t wanted) : wanted_(static_cast<std::size_t>(wanted)) {
    samples_.reserve(wanted_);
  }

  /// Adds a candidate.
  void add(const FarSample& sample) {
    if (wanted_ == 0 || !(sample.squared_distance > 0)) return;
    if (samples_.size() == wanted_) {
      if (!farther(sample, samples_.front())) return;
      std::pop_heap(samples_.begin(), samples_.end(), farther);
      samples_.back() = sample;
    } else {
      samples_.push_back(sample);
    }
    std::push_heap(samples_.begin(), samples_.end(), farther);  // the nearest sample at the front
  }

  /// Adds all samples of `other`.
  void add(const FarthestSamples& other) {
    for (const FarSample& sample : other.samples_) add(sample);
  }

  /// At most m samples in the order above.
  std::vector<FarSample> sorted() const {
    std::vector<FarSample> result = samples_;
    std::sort(result.begin(), result.end(), farther);
    return result;
  }

 private:
  static bool farther(const FarSample& a, const FarSample& b) {
    return a.squared_distance != b.squared_distance ? a.squared_distance > b.squared_distance
                                                    : a.row < b.row;
  }

  std::size_t wanted_;
  std::vector<FarSample> samples_;
};

}  // namespace lloyd
