#include "chart/principal_axes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <lloyd/error.hpp>

namespace lloyd::apps {
namespace {

// As a share of the total variance: a smaller variance is a rounding error.
constexpr double kNoVariance = 1e-14;

double dot(const double* a, const double* b, std::size_t size) {
  return std::inner_product(a, a + size, b, 0.0);
}

// Makes the largest entry positive. Of entries that are equal up to rounding, such as those of
// (1, -1), the first one counts, so that rounding does not choose the sign.
void fix_sign(std::vector<double>& axis) {
  constexpr double kEqual = 1 - 1e-9;
  double largest = 0;
  for (const double value : axis) largest = std::max(largest, std::abs(value));
  const auto first = std::find_if(
      axis.begin(), axis.end(), [&](double value) { return std::abs(value) >= kEqual * largest; });
  if (first == axis.end() || *first >= 0) return;
  for (double& value : axis) value = -value;
}

// Scales to length 1; zeros stay.
void normalize(std::vector<double>& axis) {
  double largest = 0;
  for (const double value : axis) largest = std::max(largest, std::abs(value));
  if (largest == 0) return;
  // Scaled by the largest entry first, so that no square overflows or underflows.
  for (double& value : axis) value /= largest;
  const double length = std::sqrt(dot(axis.data(), axis.data(), axis.size()));
  for (double& value : axis) value /= length;
  fix_sign(axis);
}

// Replaces the mean of each constant feature by its value: rounding would give it variance.
void settle_constant_features(const std::vector<double>& rows, std::vector<double>& mean) {
  const std::size_t d = mean.size();
  for (std::size_t j = 0; j < d; ++j) {
    std::size_t i = j;
    while (i < rows.size() && rows[i] == rows[j]) i += d;
    if (i >= rows.size()) mean[j] = rows[j];
  }
}

// A symmetric d x d matrix, and the product of the rotations applied to it so far.
struct Rotated {
  std::vector<double> matrix;
  std::vector<double> vectors;
};

// Rotates in the plane of axes p and q so that entry (p, q) becomes zero.
void rotate(Rotated& rotated, std::size_t d, std::size_t p, std::size_t q) {
  std::vector<double>& a = rotated.matrix;
  const double theta = (a[q * d + q] - a[p * d + p]) / (2 * a[p * d + q]);
  const double tangent = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double cosine = 1 / std::sqrt(tangent * tangent + 1);
  const double sine = tangent * cosine;
  const auto turn = [&](double& x, double& y) {
    const double former = x;
    x = cosine * former - sine * y;
    y = sine * former + cosine * y;
  };
  for (std::size_t j = 0; j < d; ++j) turn(a[j * d + p], a[j * d + q]);
  for (std::size_t j = 0; j < d; ++j) turn(a[p * d + j], a[q * d + j]);
  for (std::size_t j = 0; j < d; ++j) turn(rotated.vectors[p * d + j], rotated.vectors[q * d + j]);
}

// Diagonalizes a symmetric matrix. Entry (i, i) of the result is an eigenvalue, and row i of
// `vectors` is its eigenvector.
Rotated diagonalize(std::vector<double> matrix, std::size_t d) {
  constexpr int kMaxSweeps = 60;
  constexpr double kNegligible = 1e-16;  // off-diagonal entry, as a share of the trace
  Rotated rotated{std::move(matrix), std::vector<double>(d * d, 0.0)};
  double trace = 0;
  for (std::size_t j = 0; j < d; ++j) {
    rotated.vectors[j * d + j] = 1;
    trace += rotated.matrix[j * d + j];
  }
  bool changed = true;
  for (int sweep = 0; sweep < kMaxSweeps && changed; ++sweep) {
    changed = false;
    for (std::size_t p = 0; p < d; ++p) {
      for (std::size_t q = p + 1; q < d; ++q) {
        if (!(std::abs(rotated.matrix[p * d + q]) > kNegligible * trace)) continue;
        rotate(rotated, d, p, q);
        changed = true;
      }
    }
  }
  return rotated;
}

// The sum of the outer products of centred rows.
std::vector<double> scatter_matrix(const std::vector<double>& rows, std::size_t d) {
  std::vector<double> matrix(d * d, 0.0);
  for (std::size_t r = 0; r < rows.size(); r += d) {
    for (std::size_t i = 0; i < d; ++i) {
      const double value = rows[r + i];
      for (std::size_t j = i; j < d; ++j) matrix[i * d + j] += value * rows[r + j];
    }
  }
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < i; ++j) matrix[i * d + j] = matrix[j * d + i];
  }
  return matrix;
}

void find_axes_by_covariance(const std::vector<double>& rows, std::size_t d, double total,
                             PrincipalAxes& result) {
  const Rotated rotated = diagonalize(scatter_matrix(rows, d), d);
  std::vector<std::size_t> order(d);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rotated.matrix[a * d + a] > rotated.matrix[b * d + b];
  });
  for (std::size_t a = 0; a < std::min<std::size_t>(2, d); ++a) {
    const std::size_t i = order[a];
    const double along = rotated.matrix[i * d + i];
    if (!(along > kNoVariance * total)) continue;
    const auto row = rotated.vectors.begin() + static_cast<std::ptrdiff_t>(i * d);
    result.axes[a].assign(row, row + static_cast<std::ptrdiff_t>(d));
    normalize(result.axes[a]);
    result.share[a] = along / total;
  }
}

// The longest centred row, a start vector that is not orthogonal to all directions of variance.
std::vector<double> longest_row(const std::vector<double>& rows, std::size_t features) {
  const double* longest = rows.data();
  for (const double* row = rows.data(); row != rows.data() + rows.size(); row += features) {
    if (dot(row, row, features) > dot(longest, longest, features)) longest = row;
  }
  return {longest, longest + features};
}

// Rounds of power iteration: at most as many as take some ten seconds, because an axis that is
// close to the direction of largest variance will do for a plot.
std::size_t max_rounds(std::size_t values) {
  constexpr std::size_t kMaxProducts = 10'000'000'000;
  return std::clamp<std::size_t>(kMaxProducts / values, 5, 300);
}

// The direction of largest variance of centred rows. Throws Cancelled once `stop` returns true.
std::vector<double> first_axis(const std::vector<double>& rows, std::size_t features,
                               const StopFunction& stop) {
  constexpr double kNoChange = 1e-12;
  std::vector<double> axis = longest_row(rows, features);
  normalize(axis);
  for (std::size_t round = 0; round < max_rounds(rows.size()); ++round) {
    if (stop && stop()) throw Cancelled();
    std::vector<double> next(features, 0.0);
    for (std::size_t r = 0; r < rows.size(); r += features) {
      const double along = dot(&rows[r], axis.data(), features);
      for (std::size_t j = 0; j < features; ++j) next[j] += along * rows[r + j];
    }
    normalize(next);
    const double agreement = std::abs(dot(axis.data(), next.data(), features));
    axis = std::move(next);
    if (agreement >= 1 - kNoChange) break;
  }
  return axis;
}

// `rows` is changed.
void find_axes_by_power_iteration(std::vector<double>& rows, std::size_t d, double total,
                                  const StopFunction& stop, PrincipalAxes& result) {
  for (std::size_t a = 0; a < 2; ++a) {
    if (!(dot(rows.data(), rows.data(), rows.size()) > kNoVariance * total)) return;
    result.axes[a] = first_axis(rows, d, stop);
    double along_all = 0;
    for (std::size_t r = 0; r < rows.size(); r += d) {
      const double along = dot(&rows[r], result.axes[a].data(), d);
      along_all += along * along;
      for (std::size_t j = 0; j < d; ++j) rows[r + j] -= along * result.axes[a][j];
    }
    result.share[a] = along_all / total;
  }
}

}  // namespace

std::array<double, 2> PrincipalAxes::project(const double* sample) const {
  std::array<double, 2> result{};
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t j = 0; j < mean.size(); ++j) {
      result[a] += (sample[j] - mean[j]) * axes[a][j];
    }
  }
  return result;
}

PrincipalAxes principal_axes(const std::vector<double>& rows, std::size_t features,
                             const StopFunction& stop) {
  PrincipalAxes result;
  result.mean.assign(features, 0.0);
  for (std::vector<double>& axis : result.axes) axis.assign(features, 0.0);
  const std::size_t samples = rows.size() / features;
  const auto count = static_cast<double>(samples);
  for (std::size_t i = 0; i < rows.size(); ++i) result.mean[i % features] += rows[i] / count;
  settle_constant_features(rows, result.mean);
  std::vector<double> rest(rows.size());
  double largest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rest[i] = rows[i] - result.mean[i % features];
    largest = std::max(largest, std::abs(rest[i]));
  }
  if (largest == 0) return result;
  // Scales to at most 1, so that squares neither overflow nor underflow.
  for (double& value : rest) value /= largest;
  const double total = dot(rest.data(), rest.data(), rest.size());
  if (features <= kMaxCovarianceFeatures) {
    find_axes_by_covariance(rest, features, total, result);
  } else {
    find_axes_by_power_iteration(rest, features, total, stop, result);
  }
  return result;
}

}  // namespace lloyd::apps
