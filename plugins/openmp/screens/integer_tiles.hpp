// IntegerTiles: rounded samples of a data set, stored across passes.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "common/large_pages.hpp"
#include "common/tile.hpp"
#include "screens/integer_screen.hpp"

namespace lloyd_openmp {

/// Tile t holds samples [t kTile, (t + 1) kTile). A tile is rounded at its first use, and again
/// when centroids have moved too far out for its unit, or so far inwards that a finer unit would
/// prove more.
class IntegerTiles {
 public:
  /// Bytes for n samples of d features and k centroids; 0: not stored.
  static std::int64_t bytes(std::int64_t n, std::int64_t k, std::int64_t d) {
    // With more centroids screening takes so long that rounding does not matter.
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

  /// Allocates memory for n samples of d features; all tiles are empty. Throws std::bad_alloc, and
  /// then holds nothing.
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

  /// True after reserve().
  bool has_storage() const { return units_ != nullptr; }

  /// Returns tile t for centroids within `radius` of the origin. Calls round(radius, tile) if the
  /// tile is empty or its unit does not fit. A tile belongs to one block of rows, so only one
  /// thread uses it at a time.
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
  // Both are factors of the radius: headroom when a tile is rounded, and the ratio of representable
  // to needed radius above which it is rounded again with a finer unit.
  static constexpr double kGrowthRoom = 1.05, kMaxSlackRatio = 1.25;

  struct Units {
    float unit = 0, radius = 0;  // of IntegerTile; 0: empty
  };

  static std::int64_t count(std::int64_t n) { return (n + kTile - 1) / kTile; }

  std::size_t tile_lines_ = 0;                  // per tile
  LargeArray<PairLine> pairs_;                  // untouched until a thread rounds its tiles
  std::unique_ptr<TileVector<float>[]> norms_;  // per tile: norms, then residuals
  std::unique_ptr<Units[]> units_;
};

}  // namespace lloyd_openmp
