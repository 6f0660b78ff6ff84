// Change points of a series of times.
#pragma once

#include <cstddef>
#include <vector>

namespace lloyd::experiment {

/// Probability with which chance alone gives a series without a change a change point.
inline constexpr double kChangeLevel = 0.01;
/// Shorter series have no change points: with fewer values, no split is significant.
inline constexpr std::size_t kMinRunsForChange = 10;

/// The indices, ascending, at which a new level of the values begins:
/// 1. Each split of the series into two sides of at least two values is rated by the energy
///    distance between the logarithms of all values before it and of the next m values after it,
///    for the best m.
/// 2. The best split is a change point if at most kChangeLevel of 999 random orders of the values
///    have a split that is as good, and if the medians of both sides differ by more than a factor
///    of 1.03.
/// 3. Then both parts are examined in the same way.
/// All values must be positive and finite. The same values give the same result. Time and memory
/// grow with the square of the number of values. Source: D. S. Matteson and N. A. James, "A
/// nonparametric approach for multiple change point analysis of multivariate data", Journal of the
/// American Statistical Association 109, 2014; used on series of benchmarks by D. Daly et al., "The
/// use of change point detection to identify software performance regressions in a continuous
/// integration system", ICPE 2020.
std::vector<std::size_t> change_points(const std::vector<double>& values);

}  // namespace lloyd::experiment
