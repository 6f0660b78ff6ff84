// ScreenScratch: scratch memory of one thread for screening tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "common/tile.hpp"
#include "screens/integer_screen.hpp"

namespace lloyd_openmp {

/// Real: type of the samples. Only float32 samples have integer tiles.
template <class Real>
class ScreenScratch {
 public:
  explicit ScreenScratch(std::int64_t features)
      : tile_(static_cast<std::size_t>(features)),
        exact_(static_cast<std::size_t>(kIsFloat32 ? features : 0)),
        pairs_(kIsFloat32 ? pair_lines(features) : 0) {}

  /// For k centroids.
  void prepare(std::int64_t k) {
    if (kIsFloat32) offsets_.resize(static_cast<std::size_t>(k));
  }

  TileVector<Real>* tile() { return tile_.data(); }
  /// A tile in float64; the same memory as tile() if the samples are float64.
  TileVector<double>* exact_tile() {
    if constexpr (kIsFloat32) {
      return exact_.data();
    } else {
      return tile_.data();
    }
  }
  /// A tile of rounded samples, overwritten at each use.
  IntegerTile integer_tile() { return {pairs_.data(), &norms_, &residuals_, 0, 0}; }
  /// The `offsets` of screen_integers().
  std::int32_t* integer_offsets() { return offsets_.data(); }

  /// Bytes beyond sizeof(ScreenScratch).
  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    constexpr std::int64_t kTileBytes = kIsFloat32 ? 12 : 8;  // per sample and feature
    const std::int64_t integers = kIsFloat32 ? (d + 1) / 2 * kTile * 4 + k * 4 : 0;
    return d * kTile * kTileBytes + integers;
  }

 private:
  static constexpr bool kIsFloat32 = sizeof(Real) < sizeof(double);

  std::vector<TileVector<Real>> tile_;
  std::vector<TileVector<double>> exact_;
  std::vector<PairLine> pairs_;
  std::vector<std::int32_t> offsets_;
  TileVector<float> norms_, residuals_;
};

}  // namespace lloyd_openmp
