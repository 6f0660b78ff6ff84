// ScoreScreen: packs centroids for the floating-point screens and computes their error bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "screens/float_screen.hpp"
#include "screens/row_screen.hpp"

namespace lloyd_openmp {

/// Centroids relative to an origin near the mean of the data, in Real (the type of the samples).
/// Error bound of the scores: docs/design/openmp/exactness.md, section 1, whose symbols limit_of()
/// uses; its t is twice the t of the proof.
template <class Real>
class ScoreScreen {
 public:
  /// The error bound does not hold for more features.
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

  /// True if the current centroids can be screened without overflow. If not, neither they nor the
  /// limits may be used.
  bool can_screen() const { return can_screen_; }
  const Real* origin() const { return origin_.data(); }
  /// Upper bound on the distance of any sample to the origin.
  double radius() const { return radius_ * (1 + 1e-6); }
  TileCentroids<Real> centroids() const {
    return {squared_norms_.data(), factors_.data()->values, clusters_, limit_};
  }
  RowCentroids row_centroids() const requires std::same_as<Real, float> {
    return {squared_norms_.data(), factors_.data()->values, origin_.data(), clusters_, limit_};
  }

  /// `centroids`: k x d. `row_chain_length`: pass row_chain_length() to pack for screen_rows(), 0
  /// to pack for screen_tile().
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
    const double max_squared = max_norm * max_norm + 2 * radius_ * max_norm + radius_ * radius_;
    can_screen_ = d_ <= kMaxFeatures && max_squared < std::numeric_limits<Real>::max() / 64.0;
    if (!can_screen_) return;

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
    tile_limit_ =
        limit_of(max_norm, std::min(d_, kScoreBlock) + blocks + 2 * indices_in_score(k, d_));
    limit_ = row_chain_length > 0 ? limit_of(max_norm, row_chain_length) : tile_limit_;
    unmarked_limit_ = limit_of(max_norm, std::min(d_, kScoreBlock) + blocks);
  }

  /// The limit for scores that are accumulated as in screen_tile().
  const ScoreLimit<Real>& tile_limit() const { return tile_limit_; }
  /// The same for scores without indices in their low bits.
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
    constexpr double t = std::numeric_limits<Real>::denorm_min();  // twice the t of the proof
    const auto d = static_cast<double>(d_);
    const auto h = static_cast<double>(chain);
    const double g = (sizeof(Real) == sizeof(float) ? h + 8 : h + d + 10) * u;
    const double slack = 1 + 4 * (d + 8) * u;
    const double square = 4 * (d + 3) * v;
    double slope = 4 * g * max_norm + 4 * std::sqrt(d) * t;
    double base = 2 * g * max_norm * max_norm + square * max_norm * max_norm +
                  4 * std::sqrt(d) * t * max_norm + 2 * (d + h + 2) * t;
    // Upper bound on the error of |y| due to squares that underflow.
    base += slope * 2 * std::sqrt(d * static_cast<double>(std::numeric_limits<Real>::min()));
    return {above(base * slack), above(slope * slack), above(square * slack), above((d + 16) * u)};
  }

  static Real above(double value) {
    return std::nextafter(static_cast<Real>(value), std::numeric_limits<Real>::infinity());
  }

  std::int64_t d_;
  std::vector<Real> origin_;         // d
  double radius_ = 0;                // largest possible |y|
  std::vector<CacheLine> factors_;   // packed in panels or by rows
  std::vector<Real> squared_norms_;  // k
  std::int64_t clusters_ = 0;
  ScoreLimit<Real> limit_{}, tile_limit_{}, unmarked_limit_{};
  bool can_screen_ = false;
};

}  // namespace lloyd_openmp
