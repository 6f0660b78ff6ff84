// principal_axes: the two directions in which samples vary most.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace lloyd::experiment {

struct PrincipalAxes {
  std::vector<double> mean;                 ///< d
  std::array<std::vector<double>, 2> axes;  ///< d each, of length 1 and orthogonal
  std::array<double, 2> share{};            ///< of the total variance, from 0 to 1

  /// The coordinates of one sample of d values.
  std::array<double, 2> project(const double* sample) const;
};

/// The first two principal components of `rows`, row-major samples of `features` >= 2 values. Their
/// largest entry is positive. By power iteration with deflation (G. H. Golub and C. F. Van Loan,
/// "Matrix Computations", section 8.2): near enough for a view. Samples that do not vary have axes
/// of zeros.
PrincipalAxes principal_axes(const std::vector<double>& rows, std::size_t features);

}  // namespace lloyd::experiment
