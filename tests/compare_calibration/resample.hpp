// Comparisons resampled from recorded runs of two identical backends. They show how often the rule
// of `lloyd compare` calls identical backends different, and how often it detects an artificial
// slowdown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "experiment/statistics/verdict.hpp"

namespace lloyd::calibration {

/// times[run][setting][variant][round], in milliseconds; two variants.
using RecordedTimes = std::vector<std::vector<std::vector<std::vector<double>>>>;

/// Reads the output of trim.py. Throws InputError for anything else.
RecordedTimes read_times(const std::filesystem::path& file);

struct Shares {
  double faster = 0;
  double slower = 0;
};

enum class Kind {
  rounds,  ///< the two variants in the same rounds of one run: `lloyd compare A`
  runs     ///< one variant in rounds of two runs: `lloyd compare A B`
};

/// The verdicts on `comparisons` comparisons. Each takes 15 successive rounds of a random setting,
/// starting at random rounds of random runs; the times of the newer side are multiplied by
/// `slowdown`. The same seed gives the same comparisons.
Shares resample(const RecordedTimes& times, Kind kind, double slowdown, std::int64_t comparisons,
                std::uint64_t seed);

}  // namespace lloyd::calibration
