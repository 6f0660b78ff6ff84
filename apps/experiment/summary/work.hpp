// Work: where the time of a fit goes, and how much an iteration does in it.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "experiment/record/fit_digest.hpp"

namespace lloyd::experiment {

/// Medians of the profiled trials of one fit. Not a number: not measured.
struct PhaseSummary {
  // Milliseconds per iteration, and percent of the loop and the closing assignment together.
  double transfer_ms = std::numeric_limits<double>::quiet_NaN();
  double transfer_percent = std::numeric_limits<double>::quiet_NaN();
  double assignment_ms = std::numeric_limits<double>::quiet_NaN();
  double assignment_percent = std::numeric_limits<double>::quiet_NaN();
  double update_ms = std::numeric_limits<double>::quiet_NaN();
  double update_percent = std::numeric_limits<double>::quiet_NaN();
  /// What is left of loop and closing assignment, in milliseconds per fit, and percent likewise.
  double overhead_ms = 0;
  double overhead_percent = 0;
};

/// Nothing where no phase was measured.
std::optional<PhaseSummary> phases_of(const FitDigest& fit);

/// By a count of the work of one iteration of Lloyd's algorithm with every distance evaluated:
/// nk(3d + 2) + d(n + k) operations (M. Zechner and M. Granitzer, 2009, equation 4), and nkd
/// features read, each sample once for every centroid.
struct Rates {
  double gflop_per_s = 0;
  double gb_per_s = 0;
};

/// `iteration_ms`: what an iteration takes.
Rates rates_of(const FitDigest& fit, double iteration_ms);

}  // namespace lloyd::experiment
