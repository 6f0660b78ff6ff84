// Work: the phases of a fit, and the computation and memory rates of an iteration.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "experiment/record/fit_digest.hpp"

namespace lloyd::experiment {

/// Medians over the profiled trials of one fit. NaN: not measured.
struct PhaseSummary {
  // Milliseconds per iteration, and percent of the time of loop and closing assignment.
  double transfer_ms = std::numeric_limits<double>::quiet_NaN();
  double transfer_percent = std::numeric_limits<double>::quiet_NaN();
  double assignment_ms = std::numeric_limits<double>::quiet_NaN();
  double assignment_percent = std::numeric_limits<double>::quiet_NaN();
  double update_ms = std::numeric_limits<double>::quiet_NaN();
  double update_percent = std::numeric_limits<double>::quiet_NaN();
  /// The remainder of loop and closing assignment, in milliseconds per fit and in percent.
  double overhead_ms = 0;
  double overhead_percent = 0;
};

/// Returns none if no phase was measured.
std::optional<PhaseSummary> phases_of(const FitDigest& fit);

/// Medians over the trials of one fit that counted, of a whole fit. NaN: not counted.
struct CounterSummary {
  double cycles = std::numeric_limits<double>::quiet_NaN();
  double instructions = std::numeric_limits<double>::quiet_NaN();
  double cache_misses = std::numeric_limits<double>::quiet_NaN();
  double instructions_per_cycle = std::numeric_limits<double>::quiet_NaN();
  std::string refusal;  ///< CpuCounts::refusal of the first trial that has one
};

/// Returns none if no successful trial requested counters.
std::optional<CounterSummary> counters_of(const FitDigest& fit);

/// Rates by the work of one iteration of Lloyd's algorithm that evaluates every distance: nk(3d +
/// 2) + d(n + k) operations (M. Zechner and M. Granitzer, 2009, equation 4), and nkd features read,
/// each sample once per centroid.
struct Rates {
  double gflop_per_s = 0;
  double gb_per_s = 0;
};

/// `iteration_ms` is the time of one iteration.
Rates rates_of(const FitDigest& fit, double iteration_ms);

}  // namespace lloyd::experiment
