// Pruning: decides which passes of a fit keep and use bounds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "bounds/centroid_groups.hpp"
#include "bounds/group_bounds.hpp"
#include "bounds/sample_bounds.hpp"
#include "bounds/scan.hpp"

namespace lloyd_openmp {

/// Values of the parameter `algorithm`.
enum class Algorithm : std::int64_t { lloyd, hamerly, elkan, yinyang, automatic };
inline constexpr const char* kAlgorithmNames[] = {"lloyd", "hamerly", "elkan", "yinyang", "auto"};

/// Schedule of a fit:
/// - Pass 1 labels all samples without bounds. The centroids move farthest after it, which would
///   make bounds useless.
/// - Pass 2 labels all samples again and stores two bounds for each.
/// - Pass 3 and later passes use these bounds. Bounds per group or centroid start in pass 3, with
///   the value of the sample's lower bound; `auto` tries bounds per group from pass 8 on.
class Pruning {
 public:
  explicit Pruning(Algorithm algorithm) : algorithm_(algorithm) {}

  static std::int64_t bytes(Algorithm algorithm, std::int64_t n, std::int64_t k, std::int64_t d) {
    if (algorithm == Algorithm::lloyd) return 0;
    const std::int64_t sample_bytes = SampleBounds::bytes(n, k, d);
    switch (algorithm) {
      case Algorithm::elkan:
        return sample_bytes + GroupBoundStore::bytes(BoundKind::centroid, n, k);
      case Algorithm::yinyang:
        return sample_bytes + GroupBoundStore::bytes(BoundKind::group, n, k);
      default:
        return sample_bytes + (algorithm == Algorithm::automatic && groups_may_pay(k, d)
                                   ? GroupBoundStore::bytes(BoundKind::group, n, k)
                                   : 0);
    }
  }

  /// True if some pass of a fit may scan groups.
  static bool may_scan_groups(Algorithm algorithm, std::int64_t k, std::int64_t d) {
    return algorithm == Algorithm::elkan || algorithm == Algorithm::yinyang ||
           (algorithm == Algorithm::automatic && groups_may_pay(k, d));
  }

  /// Call before the first pass of a fit of n samples. `enabled`: whether passes may keep bounds.
  void begin(bool enabled, std::int64_t n) {
    enabled_ = enabled && algorithm_ != Algorithm::lloyd;
    passes_ = 0;
    keeps_bounds_ = uses_bounds_ = false;
    groups_ = Groups::none;
    pause_ = 0;
    next_pause_ = 1;
    tried_groups_ = false;
    group_passes_ = 0;
    full_ms_ = 0;
    if (enabled_) bounds_.reserve(n);
    samples_ = n;
  }

  /// Call before each pass. `open_count`: samples whose bounds proved nothing in the last pass.
  void next_pass(const double* centroids, std::int64_t k, std::int64_t d, std::int64_t open_count) {
    if (!enabled_) return;
    const Clock::time_point now = Clock::now();
    const double last_ms = std::chrono::duration<double, std::milli>(now - pass_began_).count();
    pass_began_ = now;
    if (++passes_ == 1) return;
    if (passes_ == 2) {
      bounds_.drift().begin(centroids, k, d);
    } else {
      bounds_.drift().move(centroids);
    }
    const bool all_bounded = keeps_bounds_;
    if (groups_ == Groups::begin) groups_ = Groups::active;
    if (algorithm_ == Algorithm::automatic) {
      adapt(last_ms, open_count, k, d);
    } else if (all_bounded && groups_ == Groups::none && algorithm_ != Algorithm::hamerly) {
      groups_ = Groups::begin;
    }
    keeps_bounds_ = pause_ == 0;
    uses_bounds_ = keeps_bounds_ && all_bounded;
    if (pause_ > 0) --pause_;
  }

  bool keeps_bounds() const { return keeps_bounds_; }  ///< in this pass
  bool uses_bounds() const { return uses_bounds_; }    ///< in this pass
  /// True if samples that the two bounds leave open are scanned by groups, with bounds of
  /// bound_kind().
  bool scans_groups() const { return groups_ != Groups::none; }
  /// True in the pass in which bounds per group begin.
  bool begins_groups() const { return groups_ == Groups::begin; }
  BoundKind bound_kind() const {
    return algorithm_ == Algorithm::elkan ? BoundKind::centroid : BoundKind::group;
  }

  const SampleBounds& bounds() const { return bounds_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Groups { none, begin, active };

  // Shapes for which scanning some groups may be cheaper than screening all centroids:
  // docs/design/openmp/bounds.md. The bounds need no more memory than the samples, apart from
  // rounding up to whole vectors.
  static bool groups_may_pay(std::int64_t k, std::int64_t d) {
    return k * d >= 16384 && k >= 4 * kGroupCentroids && k <= d * kGroupCentroids;
  }

  // Decides about the next pass from the times of the last ones.
  void adapt(double last_ms, std::int64_t open_count, std::int64_t k, std::int64_t d) {
    constexpr double kGain = 0.95, kMaxOpenShare = 0.75;
    // With many features, a scan costs little compared with the distances that it saves.
    constexpr std::int64_t kMinGroupFeatures = 128;
    if (!uses_bounds_) {
      full_ms_ = last_ms;
      return;
    }
    const bool mostly_open =
        static_cast<double>(open_count) > kMaxOpenShare * static_cast<double>(samples_);
    if (groups_ == Groups::active) {
      // The first pass with groups builds them.
      if (++group_passes_ == 2 && last_ms > kGain * before_groups_ms_) groups_ = Groups::none;
    } else if (!tried_groups_ && groups_may_pay(k, d) && (mostly_open || d >= kMinGroupFeatures) &&
               passes_ >= 8) {
      tried_groups_ = true;
      group_passes_ = 0;
      before_groups_ms_ = last_ms;
      groups_ = Groups::begin;
      return;
    }
    if (mostly_open && last_ms > kGain * full_ms_ && group_passes_ != 1) {
      // Pauses bounds, each time for twice as many passes.
      pause_ = next_pause_;
      next_pause_ *= 2;
      groups_ = Groups::none;
    } else {
      next_pause_ = 1;
    }
  }

  Algorithm algorithm_;
  bool enabled_ = false;
  std::int64_t passes_ = 0;
  bool keeps_bounds_ = false, uses_bounds_ = false;
  Groups groups_ = Groups::none;
  bool tried_groups_ = false;
  std::int64_t group_passes_ = 0;
  std::int64_t pause_ = 0;       // remaining passes without bounds
  std::int64_t next_pause_ = 1;  // length of the next pause
  Clock::time_point pass_began_;
  double full_ms_ = 0;           // time of the last pass without use of bounds, milliseconds
  double before_groups_ms_ = 0;  // time of the last pass without groups
  std::int64_t samples_ = 0;
  SampleBounds bounds_;
};

}  // namespace lloyd_openmp
