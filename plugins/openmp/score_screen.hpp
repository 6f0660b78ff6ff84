// ScoreScreen: centroids made ready for screen_tile(), with the bound that proves labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include <lloyd/plugin/dataset_view.hpp>

#include "nearest.hpp"
#include "row_screen.hpp"

namespace lloyd_openmp {

/// Scores in Real of samples and centroids relative to an origin near the mean of the data.
///
/// With the origin s, y = x - s and e = c - s, a squared distance is |y|^2 + T, T = |e|^2 - 2 y.e.
/// The screen computes T from y' and e', which are y and e rounded, and from |e|^2 rounded, by sums
/// of products that each go through at most h roundings. All partial results are at most
/// M = |e|^2 + 2|y||e| (Cauchy-Schwarz) but for roundings, and none overflows: fits() says so. With
/// u the unit roundoff of Real, sums are off by h u M, y', e' and |e|^2 by u M together three
/// times, and the products, where the machine rounds them, by u M together; in float64, where |e|^2
/// is no better than the rest, d + 2 times more. So the screened score is off by at most
///   E = g M,  g = (h + 8) u, or (h + d + 10) u in float64,
/// where the small excess covers terms of the order u^2 for (2d + 10) u < 1/16. A mark in a score
/// (score_marks()) changes it by less than 2u M for each value of the mark, as so many roundings
/// do. What underflows adds at most t, half the least denormal, for each rounding: 2 sqrt(d) t (|y|
/// + |e|) + (d + h + 2) t.
///
/// The definition rounds to float64, v = 2^-53: it is off by at most (d + 2) v of a distance, which
/// is at most 2 (|y|^2 + |e|^2). Where the least score is below the second by more than
///   2 E + 4 (d + 3) v (|y|^2 + |e|^2)
/// with |e| the max_norm of all centroids', its centroid is the nearest by the definition too, and
/// no other is as near. That limit is base + slope |y| + square |y|^2. The screen's own roundings
/// of it, of |y|^2 (d + 1 of them) and of the difference are within the factor `slack`.
template <class Real>
class ScoreScreen {
 public:
  /// Above it the bound does not hold.
  static constexpr std::int64_t kMaxFeatures = 1 << 16;

  explicit ScoreScreen(const lloyd::DatasetView& dataset) : d_(dataset.features) {
    double squared = 0;
    for (std::int64_t j = 0; j < d_; ++j) {
      const lloyd::FeatureStatistics& feature = dataset.statistics[j];
      const auto origin =
          static_cast<Real>(std::clamp(feature.mean, feature.minimum, feature.maximum));
      origin_.push_back(origin);
      const double radius = std::max(feature.maximum - static_cast<double>(origin),
                                     static_cast<double>(origin) - feature.minimum);
      squared += radius * radius;
    }
    radius_ = std::sqrt(squared);
  }

  /// Whether the centroids that were set last can be screened; otherwise nothing else may be asked.
  bool fits() const { return fits_; }
  const Real* origin() const { return origin_.data(); }
  /// No sample is farther from the origin.
  double radius() const { return radius_ * (1 + 1e-6); }
  TileCentroids<Real> centroids() const {
    return {squared_norms_.data(), factors_.data()->values, clusters_, limit_};
  }
  RowCentroids row_centroids() const requires std::same_as<Real, float> {
    return {squared_norms_.data(), factors_.data()->values, origin_.data(), clusters_, limit_};
  }

  /// `centroids`: k x d. `row_chain_length`: that of screen_rows(); 0: for screen_tile().
  void set_centroids(const double* centroids, std::int64_t k, std::int64_t row_chain_length = 0) {
    double max_norm = 0;
    for (std::int64_t c = 0; c < k; ++c) {
      double squared = 0;
      for (std::int64_t j = 0; j < d_; ++j) {
        const double e = from_origin(centroids, c, j);
        squared += e * e;
      }
      max_norm = std::max(max_norm, squared);
    }
    max_norm = std::sqrt(max_norm) * (1 + 1e-6);
    const double most = max_norm * max_norm + 2 * radius_ * max_norm + radius_ * radius_;
    fits_ = d_ <= kMaxFeatures && most < std::numeric_limits<Real>::max() / 64.0;
    if (!fits_) return;

    clusters_ = k;
    factors_.assign(static_cast<std::size_t>(lines(k, d_, row_chain_length > 0)), {});
    squared_norms_.resize(static_cast<std::size_t>(k));
    for (std::int64_t c = 0; c < k; ++c) {
      double squared = 0;
      for (std::int64_t j = 0; j < d_; ++j) {
        const double e = from_origin(centroids, c, j);
        squared += e * e;
        const std::int64_t at =
            row_chain_length > 0
                ? c * padded_features(d_) + j
                : (c / kPanelCentroids * d_ + j) * kPanelCentroids + c % kPanelCentroids;
        factors_[static_cast<std::size_t>(at / CacheLine::kValues)]
            .values[at % CacheLine::kValues] = static_cast<Real>(-2 * e);
      }
      squared_norms_[static_cast<std::size_t>(c)] = static_cast<Real>(squared);
    }
    const std::int64_t blocks = (d_ + kScoreBlock - 1) / kScoreBlock;
    tile_limit_ = limit_of(max_norm, std::min(d_, kScoreBlock) + blocks + 2 * score_marks(k, d_));
    limit_ = row_chain_length > 0 ? limit_of(max_norm, row_chain_length) : tile_limit_;
    unmarked_limit_ = limit_of(max_norm, std::min(d_, kScoreBlock) + blocks);
  }

  /// The limit of scores that are summed as screen_tile() does.
  const ScoreLimit<Real>& tile_limit() const { return tile_limit_; }
  /// The same where whose a score is does not stand in its last bits.
  const ScoreLimit<Real>& unmarked_limit() const { return unmarked_limit_; }

  static std::int64_t bytes(std::int64_t k, std::int64_t d, bool by_rows) {
    return (lines(k, d, by_rows) * CacheLine::kValues + k + d) *
           static_cast<std::int64_t>(sizeof(Real));
  }

 private:
  struct alignas(64) CacheLine {
    static constexpr std::int64_t kValues = 64 / sizeof(Real);
    Real values[kValues] = {};
  };

  static std::int64_t lines(std::int64_t k, std::int64_t d, bool by_rows) {
    const std::int64_t values = by_rows ? k * padded_features(d) : panels(k) * kPanelCentroids * d;
    return (values + CacheLine::kValues - 1) / CacheLine::kValues;
  }
  static std::int64_t panels(std::int64_t k) { return (k + kPanelCentroids - 1) / kPanelCentroids; }

  double from_origin(const double* centroids, std::int64_t c, std::int64_t j) const {
    return centroids[c * d_ + j] - static_cast<double>(origin_[static_cast<std::size_t>(j)]);
  }

  ScoreLimit<Real> limit_of(double max_norm, std::int64_t chain) const {
    constexpr double u = std::numeric_limits<Real>::epsilon() / 2.0;
    constexpr double v = std::numeric_limits<double>::epsilon() / 2.0;
    constexpr double t = std::numeric_limits<Real>::denorm_min();
    const auto d = static_cast<double>(d_);
    const auto h = static_cast<double>(chain);
    const double g = (sizeof(Real) == sizeof(float) ? h + 8 : h + d + 10) * u;
    const double slack = 1 + 4 * (d + 8) * u;
    const double square = 4 * (d + 3) * v;
    double slope = 4 * g * max_norm + 4 * std::sqrt(d) * t;
    double base = 2 * g * max_norm * max_norm + square * max_norm * max_norm +
                  4 * std::sqrt(d) * t * max_norm + 2 * (d + h + 2) * t;
    // Squares that underflow make |y| too small by this at most.
    base += slope * 2 * std::sqrt(d * static_cast<double>(std::numeric_limits<Real>::min()));
    return {above(base * slack), above(slope * slack), above(square * slack), above((d + 16) * u)};
  }

  static Real above(double value) {
    return std::nextafter(static_cast<Real>(value), std::numeric_limits<Real>::infinity());
  }

  std::int64_t d_;
  std::vector<Real> origin_;         // d
  double radius_ = 0;                // max_norm |y| there can be
  std::vector<CacheLine> factors_;   // in panels, or by rows
  std::vector<Real> squared_norms_;  // k
  std::int64_t clusters_ = 0;
  ScoreLimit<Real> limit_{}, tile_limit_{}, unmarked_limit_{};
  bool fits_ = false;
};

}  // namespace lloyd_openmp
