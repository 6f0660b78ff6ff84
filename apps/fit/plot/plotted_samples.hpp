// PlottedSamples: the samples that a plot of a data set shows.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd::apps {

/// Maximum number of samples in a plot.
inline constexpr std::int64_t kMaxPlottedSamples = 20000;
/// Maximum number of values of these samples. With more than 104 features, fewer samples are shown,
/// but at least kMinPlottedSamples.
inline constexpr std::int64_t kMaxPlottedValues = std::int64_t{1} << 21;
/// See kMaxPlottedValues.
inline constexpr std::int64_t kMinPlottedSamples = 100;

/// Samples of a data set, ascending by row.
struct PlottedSamples {
  std::vector<std::int64_t> rows;  ///< m row numbers
  std::vector<double> values;      ///< m x d
};

/// The number of samples that a plot of n x d samples shows.
std::int64_t plotted_sample_count(std::int64_t samples, std::int64_t features);

/// Peak memory of reading these samples, computing their principal axes and drawing them with k
/// clusters, in bytes.
std::int64_t plot_bytes(std::int64_t samples, std::int64_t features, std::int64_t clusters);

/// Reads the samples of a plot: all if there are not too many, otherwise a random sample with seed
/// 0, one row from each of equal parts of the data set. Data that is not in memory is read once, in
/// blocks of at most 4 MiB or one row. Throws what reading throws, and Cancelled once `stop`
/// returns true.
PlottedSamples read_plotted_samples(const Dataset& dataset, const StopFunction& stop);

}  // namespace lloyd::apps
