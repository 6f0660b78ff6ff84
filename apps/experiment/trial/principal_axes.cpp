#include "experiment/trial/principal_axes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lloyd::experiment {
namespace {

double dot(const double* a, const double* b, std::size_t size) {
  return std::inner_product(a, a + size, b, 0.0);
}

// Scales to length 1 with a positive largest entry; zeros stay.
void normalize(std::vector<double>& axis) {
  const auto largest = std::max_element(
      axis.begin(), axis.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  // Scaled by the largest entry first, so that no square overflows or underflows.
  const double scale = *largest;
  if (scale == 0) return;
  for (double& value : axis) value /= scale;
  const double length = std::sqrt(dot(axis.data(), axis.data(), axis.size()));
  for (double& value : axis) value /= length;
}

// The longest centred row, a start vector that is not orthogonal to all directions of variance.
std::vector<double> longest_row(const std::vector<double>& rows, std::size_t features) {
  const double* longest = rows.data();
  for (const double* row = rows.data(); row != rows.data() + rows.size(); row += features) {
    if (dot(row, row, features) > dot(longest, longest, features)) longest = row;
  }
  return {longest, longest + features};
}

// The direction of largest variance of centred rows.
std::vector<double> first_axis(const std::vector<double>& rows, std::size_t features) {
  constexpr int kMaxRounds = 300;
  constexpr double kNoChange = 1e-12;
  std::vector<double> axis = longest_row(rows, features);
  normalize(axis);
  for (int round = 0; round < kMaxRounds; ++round) {
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

PrincipalAxes principal_axes(const std::vector<double>& rows, std::size_t features) {
  PrincipalAxes result;
  result.mean.assign(features, 0.0);
  const std::size_t samples = rows.size() / features;
  const auto count = static_cast<double>(samples);
  for (std::size_t i = 0; i < rows.size(); ++i) result.mean[i % features] += rows[i] / count;
  std::vector<double> rest(rows.size());
  double largest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rest[i] = rows[i] - result.mean[i % features];
    largest = std::max(largest, std::abs(rest[i]));
  }
  // Scales to at most 1, so that squares neither overflow nor underflow.
  if (largest > 0) {
    for (double& value : rest) value /= largest;
  }
  const double total = dot(rest.data(), rest.data(), rest.size());
  for (std::size_t a = 0; a < 2; ++a) {
    result.axes[a] = first_axis(rest, features);
    double along_all = 0;
    for (std::size_t r = 0; r < rest.size(); r += features) {
      const double along = dot(&rest[r], result.axes[a].data(), features);
      along_all += along * along;
      for (std::size_t j = 0; j < features; ++j) rest[r + j] -= along * result.axes[a][j];
    }
    result.share[a] = total > 0 ? along_all / total : 0;
  }
  return result;
}

}  // namespace lloyd::experiment
