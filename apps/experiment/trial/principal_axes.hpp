// principal_axes: the two directions of largest variance.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace lloyd::experiment {

/// Two orthogonal axes through the mean of d-dimensional samples.
struct PrincipalAxes {
  std::vector<double> mean;                 ///< d
  std::array<std::vector<double>, 2> axes;  ///< d each, of length 1 and orthogonal
  std::array<double, 2> share{};            ///< of the total variance, from 0 to 1

  /// Projects one sample of d values onto the axes.
  std::array<double, 2> project(const double* sample) const;
};

/// Computes the first two principal components of `rows`, row-major samples of `features` >= 2
/// values, by power iteration with deflation (G. H. Golub and C. F. Van Loan, "Matrix
/// Computations", section 8.2), accurate enough for a plot. The largest entry of each is positive.
/// Samples without variance give axes of zeros.
PrincipalAxes principal_axes(const std::vector<double>& rows, std::size_t features);

}  // namespace lloyd::experiment
