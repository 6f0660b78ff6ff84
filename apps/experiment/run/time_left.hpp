// TimeLeft: estimates the remaining time of a run from its finished trials.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiment/plan/plan.hpp"

namespace lloyd::experiment {

/// Model: the time of a fit is proportional to its problem size, with a separate pace for each
/// variant. The rest of a trial takes the same time for every size. The first trial of a variant is
/// excluded from that rest, since it may start a process, load libraries and compile kernels. No
/// trial takes longer than the timeout of the experiment.
class TimeLeft {
 public:
  /// `plan` must outlive this object.
  explicit TimeLeft(const Plan& plan);

  /// Adds a finished trial that took `seconds` in total, `fit_seconds` of them in its timed fit.
  /// `fit_seconds` is none if the trial has no fit.
  void add(const PlannedFit& fit, double seconds, std::optional<double> fit_seconds);
  /// Counts a trial that an earlier run made.
  void pass_over(const PlannedFit& fit);

  /// Estimated seconds for the unfinished trials; negative if unknown.
  double seconds() const;

 private:
  struct Fits {
    double work = 0;
    double seconds = 0;
  };
  struct VariantTrials {
    std::int64_t trials = 0;    ///< trials that have ended
    Fits first;                 ///< fit of the first trial, used until there are others
    Fits later;                 ///< fits of all later trials
    std::vector<double> rests;  ///< time of the later trials outside their fits, in seconds
  };

  static std::optional<double> pace_of(const VariantTrials& variant);
  double work_of(const PlannedFit& fit) const;
  std::size_t index_of(const PlannedFit& fit) const;

  const Plan& plan_;
  std::vector<std::int64_t> left_;  ///< trials of each planned fit; below 0 in further rounds
  std::vector<VariantTrials> variants_;
};

}  // namespace lloyd::experiment
