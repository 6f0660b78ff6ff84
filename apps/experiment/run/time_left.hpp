// TimeLeft: how long the rest of a run will take, by the trials that it has made.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiment/plan/plan.hpp"

namespace lloyd::experiment {

/// The time of a fit goes with the size of its problem, at a pace that each variant has for itself.
/// What else a trial takes is the same whatever the size, but for the first trial of a variant: it
/// may start a process, load libraries and compile kernels, which says nothing of the later ones.
class TimeLeft {
 public:
  /// `plan` must outlive this object.
  explicit TimeLeft(const Plan& plan);

  /// A trial has ended that took `seconds` in all, of which `fit_seconds` were its timed fit; none
  /// where it has no fit.
  void add(const PlannedFit& fit, double seconds, std::optional<double> fit_seconds);
  /// A trial that an earlier run made.
  void pass_over(const PlannedFit& fit);

  /// Seconds that the trials not yet ended will take; negative while that cannot be told.
  double seconds() const;

 private:
  struct Fits {
    double work = 0;
    double seconds = 0;
  };
  struct VariantTrials {
    double work_left = 0;
    std::int64_t trials_left = 0;
    std::int64_t trials = 0;    ///< ended
    Fits first;                 ///< of the first trial: used until there are others
    Fits later;                 ///< of all after it
    std::vector<double> rests;  ///< of these, what they took beside their fits
  };

  static std::optional<double> pace_of(const VariantTrials& variant);
  double work_of(const PlannedFit& fit) const;

  const Plan& plan_;
  std::vector<VariantTrials> variants_;
};

}  // namespace lloyd::experiment
