// GroupScans: scans single samples against groups of centroids, guided by bounds per group.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "bounds/bounds.hpp"
#include "bounds/centroid_groups.hpp"
#include "bounds/group_bounds.hpp"
#include "bounds/pruning.hpp"
#include "bounds/scan.hpp"
#include "common/instruction_set.hpp"
#include "common/score_limit.hpp"
#include "common/tile.hpp"
#include "common/tile_labels.hpp"

namespace lloyd_openmp {

/// Memory of one thread for GroupScans::scan().
template <class Real>
class ScanScratch {
 public:
  /// For k centroids of d features.
  void prepare(std::int64_t k, std::int64_t d) { values_.resize(vectors(k, d)); }
  Real* values() { return values_.data()->lanes; }
  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return static_cast<std::int64_t>(vectors(k, d) * sizeof(TileVector<Real>));
  }

 private:
  static std::size_t vectors(std::int64_t k, std::int64_t d) {
    return static_cast<std::size_t>((k + d + 2 * kGroupCentroids) / kTile + 1);
  }

  std::vector<TileVector<Real>> values_;
};

/// The centroid groups of a fit and the lower bounds of all samples to them (Yinyang, Elkan).
/// T: type of the samples.
template <class T>
class GroupScans {
 public:
  /// Bytes of the groups; those of the bounds are in Pruning::bytes().
  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return CentroidGroups<T>::bytes(k, d);
  }

  /// Releases the bounds. Call before each fit.
  void reset() { bounds_ = {}; }

  /// Call before each pass with pruning.scans_groups(). `centroids`: k x d; n samples.
  void begin_pass(const Pruning& pruning, std::int64_t n, const double* centroids, std::int64_t k,
                  std::int64_t d) {
    if (pruning.begins_groups()) {
      groups_.build(centroids, k, d);
      bounds_.begin(pruning.bound_kind(), n, k);
    } else {
      bounds_.add_drift(pruning.bounds().drift(), groups_.centroids().centroid_of_slot);
    }
  }

  /// Packs the centroids for scan(). `origin`: d values.
  void set_centroids(const double* centroids, const T* origin, const ScoreLimit<T>& limit) {
    groups_.set_centroids(centroids, origin, limit);
  }

  /// Sets all bounds of a sample to `lower`; 0 makes them prove nothing.
  void fill(std::int64_t row, float lower) const { bounds_.fill(row, lower); }

  /// Call after a tile was screened. If a label changes, the former centroid becomes one
  /// of the other centroids, which the bound of its group must cover.
  void cover_former_centroids(std::int64_t begin, std::int64_t rows, const std::int32_t* former,
                              const TileLabels& nearest) const {
    std::uint64_t left = (nearest.changed | nearest.unproven) & lane_mask(rows);
    for (; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const bool proven = (nearest.unproven >> lane & 1) == 0;
      const std::int32_t slot = groups_.centroids().slot_of_centroid[former[lane]];
      bounds_.cap_bound(begin + lane, slot, proven ? nearest.bounds->lower[lane] : 0);
    }
  }

  /// Scans sample `row` with features x; own_squared: squared distance to the centroid of its label
  /// `own`, from measure_distances().
  ScanResult scan(InstructionSet set, std::int64_t row, const T* x, std::int64_t d, const T* origin,
                  std::int32_t own, double own_squared, ScanScratch<T>& scratch) const {
    return scan_sample(set, bounds_.kind(), x, d, origin, groups_.centroids(), own, own_squared,
                       bounds_.for_sample(row), scratch.values());
  }

 private:
  CentroidGroups<T> groups_;
  GroupBoundStore bounds_;
};

}  // namespace lloyd_openmp
