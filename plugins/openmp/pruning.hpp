// Pruning: which passes of a fit keep bounds, and which leave samples out by them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "bound_kernels.hpp"
#include "bounds.hpp"

namespace lloyd_openmp {

/// Values of the parameter `algorithm`.
enum class Algorithm : std::int64_t { lloyd, hamerly, automatic };
inline constexpr const char* kAlgorithmNames[] = {"lloyd", "hamerly", "auto"};

/// The bounds of a fit's samples, pass after pass.
class Pruning {
 public:
  explicit Pruning(Algorithm algorithm) : algorithm_(algorithm) {}

  static std::int64_t bytes(Algorithm algorithm, std::int64_t n, std::int64_t k, std::int64_t d) {
    return algorithm == Algorithm::lloyd ? 0 : 2 * 4 * n + CentroidTravel::bytes(k, d);
  }

  /// Before the first pass of a fit of n samples; `wanted` false: before others, which keep
  /// nothing.
  void begin(bool wanted, std::int64_t n) {
    wanted_ = wanted && algorithm_ != Algorithm::lloyd;
    passes_ = 0;
    known_ = keeps_ = uses_ = false;
    rest_ = 0;
    next_rest_ = 1;
    if (!wanted_ || n == samples_) return;
    upper_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n));
    lower_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n));
    samples_ = n;
  }

  /// Before each pass. `open`: samples that bounds did not settle in the last one.
  void next_pass(const double* centroids, std::int64_t k, std::int64_t d, std::int64_t open) {
    if (!wanted_) return;
    if (++passes_ == 1) {
      // The first move of the centroids is the longest one, and would spoil bounds.
      return;
    }
    if (uses_ && algorithm_ == Algorithm::automatic) judge(open);
    known_ = keeps_;  // all samples have bounds
    if (passes_ == 2) {
      travel_.begin(centroids, k, d);
    } else {
      travel_.move(centroids);
    }
    keeps_ = rest_ == 0;
    uses_ = keeps_ && known_;
    if (rest_ > 0) --rest_;
  }

  bool keeps() const { return keeps_; }  ///< in this pass
  bool uses() const { return uses_; }    ///< in this pass
  const CentroidTravel& travel() const { return travel_; }
  StoredBounds of(std::int64_t row) const { return {upper_.get() + row, lower_.get() + row}; }

 private:
  // Bounds that settle few samples are not worth what they cost: without them for a while, each
  // time twice as long.
  void judge(std::int64_t open) {
    constexpr double kMostOpen = 0.8;
    if (static_cast<double>(open) > kMostOpen * static_cast<double>(samples_)) {
      rest_ = next_rest_;
      next_rest_ *= 2;
    } else {
      next_rest_ = 1;
    }
  }

  Algorithm algorithm_;
  bool wanted_ = false;
  std::int64_t passes_ = 0;
  bool known_ = false, keeps_ = false, uses_ = false;
  std::int64_t rest_ = 0;       // passes without bounds that are still to come
  std::int64_t next_rest_ = 1;  // how many there will be the next time
  CentroidTravel travel_;
  std::int64_t samples_ = 0;
  std::unique_ptr<float[]> upper_, lower_;  // of each sample
};

}  // namespace lloyd_openmp
