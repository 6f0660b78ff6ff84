// principal_axes: the two directions of largest variance.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd::apps {

/// Up to this many features, principal_axes() decomposes the covariance matrix.
inline constexpr std::size_t kMaxCovarianceFeatures = 256;

/// Two orthogonal axes through the mean of d-dimensional samples.
struct PrincipalAxes {
  std::vector<double> mean;                 ///< d
  std::array<std::vector<double>, 2> axes;  ///< d each, of length 1 and orthogonal
  std::array<double, 2> share{};            ///< of the total variance, from 0 to 1

  /// Projects one sample of d values onto the axes.
  std::array<double, 2> project(const double* sample) const;
};

/// Computes the first two principal components of `rows`, row-major samples of `features` >= 1
/// values. With at most kMaxCovarianceFeatures features, they are eigenvectors of the covariance
/// matrix to the precision of float64, by cyclic Jacobi rotations (G. H. Golub and C. F. Van Loan,
/// "Matrix Computations", section 8.5); with more, they come from power iteration with deflation
/// (section 8.2), accurate enough for a plot. The largest entry of each axis is positive (the first
/// of those that are equal up to rounding), so the signs are the same on every machine. An axis
/// without variance is all zeros. With more, `stop` is polled in every round, and Cancelled is
/// thrown once it returns true.
PrincipalAxes principal_axes(const std::vector<double>& rows, std::size_t features,
                             const StopFunction& stop = {});

}  // namespace lloyd::apps
