// IntegerTiles: the samples of a data set in 16-bit integers, kept from one pass to the next.
#pragma once

#include <cstdint>
#include <memory>

#include "integer_screen.hpp"
#include "large_pages.hpp"
#include "tile.hpp"

namespace lloyd_openmp {

/// Tile t has samples [t kTile, (t + 1) kTile). Each is rounded when it is asked for first, and
/// again where the centroids have gone too far out, or so far in that a smaller unit proves more.
class IntegerTiles {
 public:
  /// Of n samples of d features for k centroids; 0: they are not kept.
  static std::int64_t bytes(std::int64_t n, std::int64_t k, std::int64_t d) {
    // More centroids than this take so long to screen that rounding does not count.
    constexpr std::int64_t kMostClusters = 512;
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 28;
    const auto row = static_cast<std::int64_t>(sizeof(PairRow));
    const auto of_tile = 2 * row + static_cast<std::int64_t>(sizeof(Units));
    const std::int64_t bytes =
        large_bytes(count(n) * static_cast<std::int64_t>(rows(d)) * row) + count(n) * of_tile;
    return k <= kMostClusters && bytes <= kMostBytes ? bytes : 0;
  }

  /// Room for n samples of d features, of which none is kept yet.
  void reserve(std::int64_t n, std::int64_t d) {
    tiles_ = static_cast<std::size_t>(count(n));
    rows_ = rows(d);
    pairs_ = large_array<PairRow>(tiles_ * rows_);
    norms_ = std::make_unique_for_overwrite<TileRow<float>[]>(2 * tiles_);
    units_ = std::make_unique<Units[]>(tiles_);
  }

  /// Whether reserve() was called.
  bool kept() const { return units_ != nullptr; }

  /// Tile t, which is in one block of rows and so asked for by one thread at a time, for centroids
  /// no farther from the origin than `reach`. load() makes the tile of the samples where they are
  /// to be rounded, and returns it.
  template <class Load>
  IntegerTile get(InstructionSet set, std::int64_t t, std::int64_t d, double reach,
                  const Load& load) const {
    const auto at = static_cast<std::size_t>(t);
    Units& units = units_[at];
    IntegerTile tile{pairs_.get() + at * rows_, &norms_[2 * at], &norms_[2 * at + 1], units.unit,
                     units.greatest};
    const double holds = double{units.unit} * IntegerScreen::kMostUnits;
    if (reach > holds || (holds > kMostRoom * reach && holds > kMostRoom * units.greatest)) {
      round_tile(set, load(), d, kRoom * reach, tile);
      units = {tile.unit, tile.greatest};
    }
    if (at + 1 < tiles_) prefetch(tile.pairs + rows_);
    return tile;
  }

 private:
  // Centroids may move so much farther out, or in, before a tile is rounded again.
  static constexpr double kRoom = 1.05, kMostRoom = 1.25;

  struct Units {
    float unit = 0, greatest = 0;  // of IntegerTile; 0: nothing is there
  };

  static std::int64_t count(std::int64_t n) { return (n + kTile - 1) / kTile; }
  static std::size_t rows(std::int64_t d) { return static_cast<std::size_t>((d + 1) / 2); }

  // A tile, into the second cache while the one before is screened.
  void prefetch(const PairRow* tile) const {
    constexpr std::int64_t kLine = 64 / sizeof(tile->lanes[0]);
    for (const PairRow* row = tile; row != tile + rows_; ++row) {
      for (std::int64_t lane = 0; lane < kTile; lane += kLine) {
        __builtin_prefetch(row->lanes + lane, 0, 2);
      }
    }
  }

  std::size_t tiles_ = 0, rows_ = 0;
  LargeArray<PairRow> pairs_;                // not touched before a thread rounds its own
  std::unique_ptr<TileRow<float>[]> norms_;  // and residuals
  std::unique_ptr<Units[]> units_;
};

}  // namespace lloyd_openmp
