// Standardizing: gives every feature mean 0 and standard deviation 1.
#pragma once

#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// A linear map of each feature, to mean 0 and standard deviation 1.
struct Standardization {
  std::vector<double> mean;       ///< d finite values, in the unit of the feature
  std::vector<double> deviation;  ///< d finite values above 0: the standard deviation, or 1 for 0

  /// The map for features with these statistics. The variance is that of the population.
  static Standardization of(const std::vector<FeatureStatistics>& statistics);

  /// Throws InputError unless there are d >= 1 means and as many deviations, with values as above.
  void check() const;

  /// Maps k x d values, row-major, to standardized units. Throws what check() throws, and
  /// InputError unless there is a multiple of d values; so does undo().
  std::vector<double> apply(std::vector<double> values) const;
  /// Maps k x d values back to the units of the data.
  std::vector<double> undo(std::vector<double> values) const;

 private:
  void check_values(std::size_t values) const;
};

/// A copy of an n x d matrix, standardized: (x - mean) / deviation in float64, rounded once to the
/// dtype. Throws what Standardization::check() throws, and InputError unless the map has d features
/// and the matrix has rows and data.
Matrix standardize(const Matrix& matrix, const Standardization& map);

/// A copy of a data set in memory, of the same shape and dtype, standardized by the map for its own
/// statistics, as above. Features of variance 0 are only shifted. Name, classes and feature names
/// are kept. Throws InputError if the data set is not in memory.
Dataset standardize(const Dataset& dataset);

}  // namespace lloyd
