// RoundedSamples: the samples of a data set in 16 bits, for the passes of a seeding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "common/tile.hpp"
#include "screens/integer_rounding.hpp"
#include "screens/integer_tiles.hpp"
#include "screens/score_screen.hpp"
#include "seeding/integer_distances.hpp"

namespace lloyd_openmp {

/// Float32 samples, rounded to 16 bits when they are first screened. Different tiles may be
/// screened concurrently.
class RoundedSamples {
 public:
  /// The data that `dataset` refers to must outlive it.
  RoundedSamples(const lloyd::DatasetView& dataset, InstructionSet set)
      : dataset_(dataset), set_(set), origin_(dataset) {}

  /// Bytes for n samples of d features; 0 if they are not rounded, but screened in float32.
  static std::int64_t bytes([[maybe_unused]] std::int64_t n, [[maybe_unused]] std::int64_t d) {
#if defined(__x86_64__)  // elsewhere the integer screen has no fast dot product
    constexpr std::int64_t kMinFeatures = 16;
    if (d >= kMinFeatures) return IntegerTiles::bytes(n, 1, d);
#endif
    return 0;
  }

  /// Sets the centroids (m x d) of the next pass. Returns false if they or the samples cannot be
  /// screened in integers.
  bool set_centroids(const double* centroids, std::int64_t m) {
    if (gives_up_ || bytes(dataset_.samples, dataset_.features) == 0) return false;
    screen_.set_centroids(set_, centroids, m, dataset_.features, origin_.origin(),
                          origin_.radius());
    if (!screen_.can_screen()) return false;
    try {
      if (!tiles_.has_storage()) tiles_.reserve(dataset_.samples, dataset_.features);
    } catch (const std::bad_alloc&) {
      gives_up_ = true;
      return false;
    }
    // Only grows, so that tiles are not rounded again whenever the centroids' radius changes.
    radius_ = std::max(radius_, screen_.centroids().radius);
    return true;
  }

  /// screen_integers_below() for the tile of `rows` samples from row `begin`, a multiple of kTile.
  void screen_below(std::int64_t begin, std::int64_t rows, const double* squared_distances,
                    std::int32_t* offsets, std::uint64_t* below) const {
    const IntegerTile tile = tiles_.get(
        begin / kTile, radius_,
        [&](double radius, IntegerTile& integers) { round(begin, rows, radius, integers); });
    screen_integers_below(set_, tile, rows, dataset_.features, screen_.centroids(),
                          squared_distances, offsets, below);
  }

  /// Records the result of a pass: of `pairs` pairs of a sample and a centroid, `wasted` were
  /// computed by the definition without lowering a distance. If too many are wasted,
  /// set_centroids() returns false until release(). Distant outliers cause this: they make the unit
  /// too coarse.
  void record_pass(std::int64_t pairs, std::int64_t wasted) {
    constexpr std::int64_t kMinPairsPerWasted = 32;
    if (wasted <= pairs / kMinPairsPerWasted) return;
    release();
    gives_up_ = true;
  }

  /// Frees the rounded samples. The next pass may round them again.
  void release() {
    tiles_ = {};
    radius_ = 0;
    gives_up_ = false;
  }

 private:
  void round(std::int64_t begin, std::int64_t rows, double radius, IntegerTile& integers) const {
    const std::int64_t d = dataset_.features;
    const auto* first = static_cast<const float*>(dataset_.data) + begin * dataset_.stride;
    if (can_round_rows(set_, d)) {
      const float* samples[kTile];
      for (std::int64_t lane = 0; lane < kTile; ++lane) {
        samples[lane] = first + std::min(lane, rows - 1) * dataset_.stride;
      }
      round_rows(set_, samples, d, origin_.origin(), radius, integers);
    } else {
      std::vector<TileVector<float>> tile(static_cast<std::size_t>(d));
      load_tile(set_, first, dataset_.stride, rows, d, origin_.origin(), tile.data());
      round_tile(set_, tile.data(), d, radius, integers);
    }
  }

  lloyd::DatasetView dataset_;
  InstructionSet set_;
  ScoreScreen<float> origin_;  // only its origin and radius are used
  IntegerScreen screen_;
  IntegerTiles tiles_;
  double radius_ = 0;  // of all centroids so far
  bool gives_up_ = false;
};

}  // namespace lloyd_openmp
