// RunTimes: how the time of a run divides into its stages.
#pragma once

#include <string>

namespace lloyd::experiment {

/// Wall times in milliseconds.
struct RunTimes {
  double total = 0;    ///< of the whole command
  double fits = 0;     ///< timed fits
  double data = 0;     ///< generating and reading data sets
  double seeding = 0;  ///< choosing initial centroids, with the start of a process for it
  double checks = 0;   ///< checks of results by the definition

  /// The rest: planning, starting processes, warm-ups, traces, statistics.
  double other() const { return total - fits - data - seeding - checks; }
  /// The share of the total that is neither fits nor data, from 0 to 1.
  double own_share() const { return total > 0 ? (total - fits - data) / total : 0; }
};

/// "time: 79.7 s: timed fits 16.3 s, data 0.4 s, seeding 41.0 s, checks 13.0 s, other 9.0 s; 79 %
/// are neither fits nor data"
std::string times_text(const RunTimes& times);

}  // namespace lloyd::experiment
