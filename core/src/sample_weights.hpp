// SampleWeights: draws samples with probability proportional to their squared distance, in
// integers.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/plugin/seeding_kernels.hpp>

#include "workers.hpp"

namespace lloyd {

/// Integer weights of samples and their sums, which do not depend on the number of threads.
class SampleWeights {
 public:
  /// `multiplicities` is SeedingSamples::multiplicities(). Both it and `workers` must outlive this
  /// object.
  SampleWeights(std::int64_t samples, const std::int64_t* multiplicities, const Workers& workers);

  /// How many samples there are, each counted as often as it stands for one.
  std::uint64_t count() const { return count_; }
  /// The sample of a position in [0, count()) where those it stands for lie side by side.
  std::int64_t sample_at(std::uint64_t position) const;

  /// Weighs all samples by `squared_distances` (n values, which must stay until the next call), of
  /// which `largest` > 0 is the largest.
  void weigh(const double* squared_distances, double largest);
  const WeightScale& scale() const { return scale_; }
  std::uint64_t weight(std::int64_t i) const {
    return times(i) * static_cast<std::uint64_t>(scale_.weight(squared_distances_[i]));
  }
  /// Sum of all weights: at least 1, below 2^63.
  std::uint64_t total() const { return total_; }
  /// The sample in whose part of the cumulated weights a position in [0, total()) falls.
  std::int64_t find(std::uint64_t position) const;

 private:
  std::uint64_t times(std::int64_t i) const {
    return multiplicities_ == nullptr ? 1 : static_cast<std::uint64_t>(multiplicities_[i]);
  }

  std::int64_t samples_;
  const std::int64_t* multiplicities_;
  const Workers& workers_;
  std::uint64_t count_ = 0;
  const double* squared_distances_ = nullptr;
  WeightScale scale_;
  std::vector<std::uint64_t> block_weights_;
  std::uint64_t total_ = 0;
};

}  // namespace lloyd
