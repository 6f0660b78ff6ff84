// Scratch: what a thread works with.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include <lloyd/plugin/cluster_sums.hpp>

#include "centroid_groups.hpp"
#include "integer_screen.hpp"
#include "sum_kernels.hpp"
#include "tile.hpp"
#include "waiting_rows.hpp"

namespace lloyd_openmp {

/// Real: type of the samples. Integers are for float32.
template <class Real>
class alignas(64) Scratch {
 public:
  /// As many as are told of at a time, beside those of a tile and of waiting rows of each kind, of
  /// which there are less than two tiles.
  static constexpr std::size_t kMaxChanges = kMaxBatchedSamples + 9 * kTile;

  explicit Scratch(std::int64_t features)
      : tile_(static_cast<std::size_t>(features)),
        exact_(static_cast<std::size_t>(kNarrow ? features : 0)),
        pairs_(kNarrow ? pair_lines(features) : 0) {
    changes.reserve(kMaxChanges);
  }

  /// Before labelling with k centroids; `scans`: whether scan_values() are wanted.
  void prepare(std::int64_t clusters, bool scans) {
    if (kNarrow) offsets_.resize(static_cast<std::size_t>(clusters));
    if (scans) scan_.resize(scan_rows(clusters, std::ssize(tile_)));
  }

  TileVector<Real>* tile() { return tile_.data(); }
  /// For samples in float64; where they are that anyway, it is tile().
  TileVector<double>* exact_tile() {
    if constexpr (kNarrow) {
      return exact_.data();
    } else {
      return tile_.data();
    }
  }
  /// The workspace of scan_sample().
  Real* scan_values() { return scan_.data()->lanes; }
  /// A tile in integers, rounded anew at each use.
  IntegerTile integers() { return {pairs_.data(), &squares_[0], &squares_[1], 0, 0}; }
  /// The workspace of screen_integers().
  std::int32_t* integer_offsets() { return offsets_.data(); }

  static std::int64_t bytes(std::int64_t clusters, std::int64_t features) {
    constexpr std::int64_t kBytesOfEach = kNarrow ? 12 : 8;
    const std::int64_t of_integers = kNarrow ? (features + 1) / 2 * kTile * 4 + clusters * 4 : 0;
    return static_cast<std::int64_t>(sizeof(Scratch) + kMaxChanges * sizeof(lloyd::LabelChange)) +
           features * kTile * kBytesOfEach + of_integers;
  }
  /// Further ones where there are scans.
  static std::int64_t scan_bytes(std::int64_t clusters, std::int64_t features) {
    return static_cast<std::int64_t>(scan_rows(clusters, features) * sizeof(TileVector<Real>));
  }

  WaitingRows bound_open;      ///< by bounds as they were kept
  WaitingRows tightened_open;  ///< by bounds with the distance to the own centroid as it is
  WaitingRows integer_open;    ///< by integers
  WaitingRows needs_exact;     ///< by any screen
  std::vector<lloyd::LabelChange> changes;  ///< not reported yet
  std::int32_t* labels = nullptr;           ///< of all rows, if they were told in this fit
  std::int64_t decided = 0;                 ///< of these, by the definition
  std::int64_t distances = 0;               ///< computed, or screened
  std::int64_t open = 0;                    ///< rows that bounds did not apply

 private:
  static constexpr bool kNarrow = sizeof(Real) < sizeof(double);

  static std::size_t scan_rows(std::int64_t clusters, std::int64_t features) {
    return static_cast<std::size_t>((clusters + features + 2 * kGroupCentroids) / kTile + 1);
  }

  std::vector<TileVector<Real>> tile_;
  std::vector<TileVector<double>> exact_;
  std::vector<PairLine> pairs_;
  std::vector<std::int32_t> offsets_;
  TileVector<float> squares_[2];
  std::vector<TileVector<Real>> scan_;
};

}  // namespace lloyd_openmp
