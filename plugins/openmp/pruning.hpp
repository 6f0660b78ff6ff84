// Pruning: which passes of a fit keep bounds, and which leave samples out by them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>

#include "bound_kernels.hpp"
#include "bounds.hpp"
#include "centroid_groups.hpp"
#include "group_bounds.hpp"
#include "scan.hpp"

namespace lloyd_openmp {

/// Values of the parameter `algorithm`.
enum class Algorithm : std::int64_t { lloyd, hamerly, elkan, yinyang, automatic };
inline constexpr const char* kAlgorithmNames[] = {"lloyd", "hamerly", "elkan", "yinyang", "auto"};

/// The bounds of a fit's samples, pass after pass.
///
/// The first pass labels all samples: the move of the centroids that follows is the longest one,
/// and would spoil bounds. The second one labels all of them again and leaves two bounds of each.
/// Where there are to be bounds of groups or of single centroids, they begin with the third one, at
/// what the lower bound says; `auto` tries those of groups from the eighth on.
class Pruning {
 public:
  explicit Pruning(Algorithm algorithm) : algorithm_(algorithm) {}

  static std::int64_t bytes(Algorithm algorithm, std::int64_t n, std::int64_t k, std::int64_t d) {
    if (algorithm == Algorithm::lloyd) return 0;
    const std::int64_t of_samples = 2 * 4 * n + CentroidTravel::bytes(k, d);
    switch (algorithm) {
      case Algorithm::elkan:
        return of_samples + GroupBoundsOfFit::bytes(BoundOf::centroid, n, k);
      case Algorithm::yinyang:
        return of_samples + GroupBoundsOfFit::bytes(BoundOf::group, n, k);
      default:
        return of_samples + (algorithm == Algorithm::automatic && groups_may_pay(k, d)
                                 ? GroupBoundsOfFit::bytes(BoundOf::group, n, k)
                                 : 0);
    }
  }

  /// Whether there are scans in some pass.
  static bool scans(Algorithm algorithm, std::int64_t k, std::int64_t d) {
    return algorithm == Algorithm::elkan || algorithm == Algorithm::yinyang ||
           (algorithm == Algorithm::automatic && groups_may_pay(k, d));
  }

  /// Before the first pass of a fit of n samples; `wanted` false: before others, which keep
  /// nothing.
  void begin(bool wanted, std::int64_t n) {
    wanted_ = wanted && algorithm_ != Algorithm::lloyd;
    passes_ = 0;
    keeps_ = uses_ = false;
    groups_ = Groups::none;
    rest_ = 0;
    next_rest_ = 1;
    tried_groups_ = false;
    group_passes_ = 0;
    full_ms_ = 0;
    if (!wanted_ || n == samples_) return;
    upper_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n));
    lower_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n));
    samples_ = n;
  }

  /// Before each pass. `open`: samples that bounds did not settle in the last one.
  void next_pass(const double* centroids, std::int64_t k, std::int64_t d, std::int64_t open) {
    if (!wanted_) return;
    const Clock::time_point now = Clock::now();
    const double last_ms = std::chrono::duration<double, std::milli>(now - pass_began_).count();
    pass_began_ = now;
    if (++passes_ == 1) return;
    if (passes_ == 2) {
      travel_.begin(centroids, k, d);
    } else {
      travel_.move(centroids);
    }
    const bool known = keeps_;  // all samples have bounds
    if (groups_ == Groups::begin) groups_ = Groups::go_on;
    if (algorithm_ == Algorithm::automatic) {
      judge(last_ms, open, k, d);
    } else if (known && groups_ == Groups::none && algorithm_ != Algorithm::hamerly) {
      groups_ = Groups::begin;
    }
    keeps_ = rest_ == 0;
    uses_ = keeps_ && known;
    if (rest_ > 0) --rest_;
  }

  bool keeps() const { return keeps_; }  ///< in this pass
  bool uses() const { return uses_; }    ///< in this pass
  /// Whether what the two bounds leave open is scanned in this pass, by bounds of bound_of().
  bool scans() const { return groups_ != Groups::none; }
  /// Whether those begin in this pass.
  bool begins_groups() const { return groups_ == Groups::begin; }
  BoundOf bound_of() const {
    return algorithm_ == Algorithm::elkan ? BoundOf::centroid : BoundOf::group;
  }

  const CentroidTravel& travel() const { return travel_; }
  StoredBounds of(std::int64_t row) const { return {upper_.get() + row, lower_.get() + row}; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Groups { none, begin, go_on };

  // Where scans of some groups may be cheaper than screening against all centroids: NOTES.md. There
  // are no more of their bounds than features, but for rounding up to whole vectors.
  static bool groups_may_pay(std::int64_t k, std::int64_t d) {
    return k * d >= 16384 && k >= 4 * kGroup && k <= d * kGroup;
  }

  // What the next pass does, from how long the last ones took.
  void judge(double last_ms, std::int64_t open, std::int64_t k, std::int64_t d) {
    constexpr double kGain = 0.95, kManyOpen = 0.75;
    // The more features, the less a scan takes beside the distances that it leaves out.
    constexpr std::int64_t kLeastFeaturesForGroups = 128;
    if (!uses_) {
      full_ms_ = last_ms;
      return;
    }
    const bool few_settled = static_cast<double>(open) > kManyOpen * static_cast<double>(samples_);
    if (groups_ == Groups::go_on) {
      // The first pass of groups sets them up.
      if (++group_passes_ == 2 && last_ms > kGain * before_groups_ms_) groups_ = Groups::none;
    } else if (!tried_groups_ && groups_may_pay(k, d) &&
               (few_settled || d >= kLeastFeaturesForGroups) && passes_ >= 8) {
      tried_groups_ = true;
      group_passes_ = 0;
      before_groups_ms_ = last_ms;
      groups_ = Groups::begin;
      return;
    }
    if (few_settled && last_ms > kGain * full_ms_ && group_passes_ != 1) {
      // Without bounds for a while, each time twice as long.
      rest_ = next_rest_;
      next_rest_ *= 2;
      groups_ = Groups::none;
    } else {
      next_rest_ = 1;
    }
  }

  Algorithm algorithm_;
  bool wanted_ = false;
  std::int64_t passes_ = 0;
  bool keeps_ = false, uses_ = false;
  Groups groups_ = Groups::none;
  bool tried_groups_ = false;
  std::int64_t group_passes_ = 0;
  std::int64_t rest_ = 0;       // passes without bounds that are still to come
  std::int64_t next_rest_ = 1;  // how many there will be the next time
  Clock::time_point pass_began_;
  double full_ms_ = 0;           // the last pass that labelled all samples
  double before_groups_ms_ = 0;  // the last pass without groups
  CentroidTravel travel_;
  std::int64_t samples_ = 0;
  std::unique_ptr<float[]> upper_, lower_;  // of each sample
};

}  // namespace lloyd_openmp
