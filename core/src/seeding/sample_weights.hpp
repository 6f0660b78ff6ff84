// SampleWeights: draws samples with probability proportional to integer weights, which are scaled
// squared distances.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <lloyd/plugin/abi/seeding_kernels.hpp>

#include "parallel/range_workers.hpp"
#include "seeding/seeding_samples.hpp"

namespace lloyd {

/// The scale for squared distances up to `largest` > 0 whose weights are summed `count` times.
/// Throws BackendError if `largest` is infinite, as it becomes if the data is overwritten with
/// values that are not finite.
WeightScale weight_scale(double largest, std::uint64_t count);

/// Integer weights of samples and their sums, which do not depend on the number of threads nor of
/// ranks. Positions, rows and sums are those of all ranks; arrays are those of this rank.
class SampleWeights {
 public:
  /// Collective. Samples that are spread over ranks have no multiplicities. `samples` and `workers`
  /// must outlive this object.
  SampleWeights(const SeedingSamples& samples, const RangeWorkers& workers);

  /// The number of samples, each counted with its multiplicity.
  std::uint64_t count() const { return count_; }
  /// The sample at a position in [0, count()), if each sample is repeated as often as its
  /// multiplicity says.
  std::int64_t sample_at(std::uint64_t position) const;

  /// Collective. Computes the weights of all samples from `squared_distances` (n values, which must
  /// stay unchanged until the next call); `largest` > 0 is their maximum. Throws what
  /// weight_scale() throws, and Cancelled.
  void weigh(const double* squared_distances, double largest);
  const WeightScale& scale() const { return scale_; }
  /// Weight of sample i of this rank.
  std::uint64_t weight(std::int64_t i) const {
    return times(i) * static_cast<std::uint64_t>(scale_.weight(squared_distances_[i]));
  }
  /// The sum of all weights: at least 1, below 2^63.
  std::uint64_t total() const { return total_; }
  /// Collective. For each position in [0, total()), the row of the first sample whose cumulative
  /// weight exceeds it.
  std::vector<std::int64_t> find(std::span<const std::uint64_t> positions) const;

 private:
  std::uint64_t times(std::int64_t i) const {
    return multiplicities_ == nullptr ? 1 : static_cast<std::uint64_t>(multiplicities_[i]);
  }

  std::int64_t find_own(std::uint64_t position) const;

  const SeedingSamples& samples_;
  const std::int64_t* multiplicities_;
  const RangeWorkers& workers_;
  std::uint64_t count_ = 0;
  const double* squared_distances_ = nullptr;
  WeightScale scale_;
  std::vector<std::uint64_t> block_weights_;
  std::uint64_t before_ = 0;  // sum of the weights of lower ranks
  std::uint64_t own_ = 0;     // sum of the weights of this rank
  std::uint64_t total_ = 0;
};

}  // namespace lloyd
