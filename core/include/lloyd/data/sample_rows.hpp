// Random subsets and random orders of the samples of a data set.
#pragma once

#include <cstdint>
#include <optional>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Which samples to take, and in which order.
struct RowSampling {
  std::optional<std::int64_t> samples;  ///< size of a random subset, 1 to n; not set: all samples
  bool shuffle = false;                 ///< random order; otherwise that of the data set
  std::uint64_t seed = 0;               ///< seed of both
};

/// A copy of the chosen samples of a data set in memory, with their classes and the feature names.
/// Samples are drawn without replacement. With the same seed, a larger subset contains a smaller
/// one, and the subset is the same in either order. Throws InputError if the data set is not in
/// memory, was moved from, or has fewer samples than wanted or classes of the wrong number.
Dataset sample_rows(const Dataset& dataset, const RowSampling& sampling);

}  // namespace lloyd
