// Standardizing: gives every feature mean 0 and standard deviation 1.
#pragma once

#include <lloyd/dataset.hpp>

namespace lloyd {

/// A copy of a data set in memory, of the same shape and dtype, whose features have mean 0 and
/// standard deviation 1: (x - mean) / sqrt(variance) with the statistics of the data set (the
/// variance is divided by n, as in scikit-learn's StandardScaler), computed in float64 and rounded
/// once to the dtype. Features of variance 0 become 0. Name, classes and feature names are kept.
/// Throws InputError if the data set is not in memory.
Dataset standardize(const Dataset& dataset);

}  // namespace lloyd
