// IntegerTiles: the samples of a data set in 16-bit integers, has_storage from one pass to the
// next.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "integer_screen.hpp"
#include "large_pages.hpp"
#include "tile.hpp"

namespace lloyd_openmp {

/// Tile t has samples [t kTile, (t + 1) kTile). Each is rounded when it is asked for first, and
/// again where the centroids have gone too far out, or so far in that a smaller unit proves more.
class IntegerTiles {
 public:
  /// Of n samples of d features for k centroids; 0: they are not has_storage.
  static std::int64_t bytes(std::int64_t n, std::int64_t k, std::int64_t d) {
    // More centroids than this take so long to screen that rounding does not count.
    constexpr std::int64_t kMaxClusters = 512;
    constexpr std::int64_t kMaxBytes = std::int64_t{1} << 28;
    constexpr auto kLineBytes = static_cast<std::int64_t>(sizeof(PairLine));
    constexpr auto kTileOverhead =
        static_cast<std::int64_t>(2 * sizeof(TileVector<float>) + sizeof(Units));
    const std::int64_t bytes =
        page_rounded_bytes(count(n) * static_cast<std::int64_t>(pair_lines(d)) * kLineBytes) +
        count(n) * kTileOverhead;
    const bool keeps = d <= IntegerScreen::kMaxFeatures && k <= kMaxClusters && bytes <= kMaxBytes;
    return keeps ? bytes : 0;
  }

  /// Room for n samples of d features, of which none is has_storage yet. Throws std::bad_alloc;
  /// then nothing is held.
  void reserve(std::int64_t n, std::int64_t d) {
    const auto tiles = static_cast<std::size_t>(count(n));
    const std::size_t lines = pair_lines(d);
    auto norms = std::make_unique_for_overwrite<TileVector<float>[]>(2 * tiles);
    auto units = std::make_unique<Units[]>(tiles);
    pairs_ = large_array<PairLine>(tiles * lines);
    norms_ = std::move(norms);
    units_ = std::move(units);
    tile_lines_ = lines;
  }

  /// Whether reserve() was called.
  bool has_storage() const { return units_ != nullptr; }

  /// Tile t, which is in one block of rows and so asked for by one thread at a time, for centroids
  /// no farther from the origin than `radius`. round(radius, tile) rounds the samples where they
  /// are not, for centroids within that radius.
  template <class Round>
  IntegerTile get(std::int64_t t, double radius, const Round& round) const {
    const auto at = static_cast<std::size_t>(t);
    Units& units = units_[at];
    IntegerTile tile{pairs_.get() + at * tile_lines_, &norms_[2 * at], &norms_[2 * at + 1],
                     units.unit, units.radius};
    const double representable = double{units.unit} * IntegerScreen::kMaxUnits;
    if (radius > representable || (representable > kMaxSlackRatio * radius &&
                                   representable > kMaxSlackRatio * units.radius)) {
      round(kGrowthRoom * radius, tile);
      units = {tile.unit, tile.radius};
    }
    return tile;
  }

 private:
  // Centroids may move so much farther out, or in, before a tile is rounded again.
  static constexpr double kGrowthRoom = 1.05, kMaxSlackRatio = 1.25;

  struct Units {
    float unit = 0, radius = 0;  // of IntegerTile; 0: nothing is there
  };

  static std::int64_t count(std::int64_t n) { return (n + kTile - 1) / kTile; }

  std::size_t tile_lines_ = 0;                  // of a tile
  LargeArray<PairLine> pairs_;                  // not touched before a thread rounds its own
  std::unique_ptr<TileVector<float>[]> norms_;  // and residuals
  std::unique_ptr<Units[]> units_;
};

}  // namespace lloyd_openmp
