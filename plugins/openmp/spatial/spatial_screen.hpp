// SpatialScreen: labels tiles of neighbours against the few centroids that can be nearest to them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/types.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

#include "common/instruction_set.hpp"
#include "common/score_limit.hpp"
#include "common/tile_labels.hpp"
#include "spatial/box_screen.hpp"
#include "spatial/spatial_order.hpp"
#include "spatial/spatial_tiles.hpp"

namespace lloyd_openmp {

/// Work done by SpatialScreen::label().
struct SpatialCounts {
  std::int64_t distances = 0;
  std::int64_t changed = 0;  ///< number of changed labels
};

/// For data of few features. Each pass reduces the centroids to candidates, first for the box of a
/// group of tiles, then for the box of a tile, and then labels the samples; a tile whose only
/// candidate is the label it already has is skipped. No bounds are kept. Source: D. Pelleg and A.
/// Moore, "Accelerating exact k-means algorithms with geometric reasoning", 1999; here with tiles
/// instead of a tree.
///
/// T: type of the samples.
template <class T>
class SpatialScreen {
 public:
  /// The data that `dataset` refers to and `team` must outlive it.
  SpatialScreen(const lloyd::DatasetView& dataset, InstructionSet set, lloyd::ThreadTeam& team)
      : dataset_(dataset), set_(set), team_(team) {}

  /// Blocks of positions begin at multiples of this.
  static constexpr std::int64_t kBlockAlignment = SpatialTiles<T>::kGroupSamples;

  /// With fewer samples, sorting does not pay.
  static constexpr std::int64_t kMinSamples = std::int64_t{1} << 16;

  /// True if fits of n samples of d features may use the spatial order. `min_samples`: minimum of
  /// n.
  static bool supports(std::int64_t n, std::int64_t d, std::int64_t min_samples = kMinSamples) {
    return n >= min_samples && SpatialTiles<T>::bytes(n, d) > 0;
  }

  /// Bytes of a SpatialScreen. Requires supports(n, d).
  static std::int64_t bytes(std::int64_t n, std::int64_t k, std::int64_t d, std::int64_t threads) {
    const std::int64_t thread_bytes =
        static_cast<std::int64_t>(sizeof(SpatialWorker)) + SpatialOrder<T>::bytes(n) + kSortBytes +
        2 * BoxCentroids<T>::bytes(k, d) +
        (k + BoxCentroids<T>::kPadding) * static_cast<std::int64_t>(sizeof(T));
    return SpatialTiles<T>::bytes(n, d) + BoxCentroids<T>::bytes(k, d) + threads * thread_bytes;
  }

  /// Call before the first pass of a fit. `enabled`: whether the fit may use the spatial order.
  void begin_fit(bool enabled) {
    enabled_ = enabled;
    active_ = false;
    ++passes_;  // invalidates the labels in the tiles, which belong to the last fit
    fit_passes_ = 0;
    defers_labels_ = false;
    for (SpatialWorker& worker : workers_) worker.labels_pending = false;
  }

  /// Call before each pass. `centroids`: k x d; `origin`: d values; `limit`: score limit of the
  /// centroids, null if they cannot be screened; `labels`: of all rows after the previous pass of
  /// this fit, null if there was none or they are unknown. Returns true if the spatial order pruned
  /// too little in the previous pass; it is then disabled for the rest of the fit.
  bool begin_pass(const double* centroids, std::int64_t k, const T* origin,
                  const ScoreLimit<T>* limit, std::int32_t* labels) {
    ++passes_;
    const bool was_active = std::exchange(active_, false);
    const bool abandoned = prepare_pass(centroids, k, origin, limit, labels, was_active);
    if (!active_) write_labels(labels);  // other screens read them
    return abandoned;
  }

  /// Call before a pass that does not use label(), instead of begin_pass().
  void skip_pass() {
    ++passes_;
    ++fit_passes_;
    active_ = false;
    for (SpatialWorker& worker : workers_) worker.labels_pending = false;
  }

  /// Allows label() to leave labels unwritten in this fit until write_labels().
  void defer_labels(bool allowed) { defers_labels_ = allowed; }

  /// Writes the labels that label() left unwritten. `labels`: of all rows.
  void write_labels(std::int32_t* labels) {
    bool labels_pending = false;
    for (SpatialWorker& worker : workers_)
      labels_pending |= std::exchange(worker.labels_pending, false);
    if (!labels_pending) return;
    for (std::int64_t t = 0; t < (dataset_.samples + kTile - 1) / kTile; ++t) {
      const SpatialTile<T>& tile = tiles_.tile(t);
      for (std::int64_t lane = 0; lane < tile.count; ++lane) {
        if ((tile.unknown_mask >> lane & 1) != 0) continue;
        labels[tiles_.rows(t)[lane]] =
            tile.label == SpatialTile<T>::kMixed ? tiles_.labels(t)[lane] : tile.label;
      }
    }
  }

  /// True if label() can be used in this pass.
  bool active() const { return active_; }

  /// Labels the samples at a range of positions in spatial order, which begins at a multiple of
  /// kBlockAlignment. labels[row]: former labels, replaced by the new ones. Calls needs_exact(row)
  /// for samples that the definition has to label, and report(samples, stride, changes, count) for
  /// batches of changed labels; the sample of a change is at samples + row * stride. `thread`:
  /// number of the calling thread.
  template <class NeedsExact, class Report>
  SpatialCounts label(int thread, lloyd::RowRange positions, std::int32_t* labels,
                      const NeedsExact& needs_exact, const Report& report) {
    SpatialWorker& worker = workers_[static_cast<std::size_t>(thread)];
    SpatialCounts counts;
    constexpr std::int64_t kMaxRows = SpatialOrder<T>::kMaxPartSamples;
    for (std::int64_t begin = positions.begin; begin < positions.end; begin += kMaxRows) {
      const std::int64_t end = std::min(begin + kMaxRows, positions.end);
      label_part(worker, {begin, end}, labels, needs_exact, report, counts);
    }
    worker.screened += counts.distances;
    worker.labels_pending |= defers_labels_;
    return counts;
  }

 private:
  struct alignas(64) SpatialWorker {
    SpatialOrder<T> order;
    BoxCentroids<T> group_candidates, tile_candidates;
    std::vector<T> scores;
    T samples[kTile * kBoxFeatures];  // of `changes`, contiguous
    lloyd::LabelChange changes[kTile];
    std::int64_t screened = 0;  // screened distances
    bool labels_pending = false;
  };

  // Sets active_ and returns the result of begin_pass().
  bool prepare_pass(const double* centroids, std::int64_t k, const T* origin,
                    const ScoreLimit<T>* limit, const std::int32_t* labels, bool was_active) {
    if (!enabled_ || limit == nullptr) return false;
    ++fit_passes_;
    // Sorting costs as much as comparing every sample with about kSortCost centroids. A fit is
    // expected to have at least twice as many passes as have begun; sorting pays if those passes
    // together compare each sample with more than kSortCost centroids.
    constexpr std::int64_t kSortCost = 32;
    const bool pays = tiles_.presorted() || fit_passes_ > kSortCost / (2 * k);
    const bool labels_known = labels != nullptr || fit_passes_ == 1;
    if (!labels_known || !pays) return false;
    std::int64_t screened = 0;
    for (SpatialWorker& worker : workers_) screened += std::exchange(worker.screened, 0);
    if (was_active && screened > dataset_.samples * k / 2) {
      enabled_ = false;  // spatial neighbours rarely share a nearest centroid
      return true;
    }
    if (!prepare(k, labels)) return false;
    origin_ = origin;
    limit_ = *limit;
    all_centroids_.pad(k, dataset_.features);
    for (std::int64_t c = 0; c < k; ++c) {
      double squared = 0;
      for (std::int64_t j = 0; j < dataset_.features; ++j) {
        const double e = centroids[c * dataset_.features + j] - static_cast<double>(origin[j]);
        squared += e * e;
        all_centroids_
            .values[static_cast<std::size_t>((j + 1) * all_centroids_.feature_stride + c)] =
            static_cast<T>(-2 * e);
      }
      all_centroids_.values[static_cast<std::size_t>(c)] = static_cast<T>(squared);
      all_centroids_.indices[static_cast<std::size_t>(c)] =
          static_cast<typename BoxCentroids<T>::Index>(c);
    }
    all_centroids_.count = k;
    active_ = true;
    return false;
  }

  // Allocates memory and sorts; returns false if there is not enough memory. `labels`: null in the
  // first pass of a fit.
  bool prepare(std::int64_t k, const std::int32_t* labels) {
    const std::int64_t d = dataset_.features;
    try {
      if (!tiles_.presorted()) {
        tiles_.presort(dataset_, labels, team_);
        sorted_pass_ = passes_;
      }
      if (clusters_ == k) return true;
      workers_.resize(static_cast<std::size_t>(team_.threads()));
      for (SpatialWorker& worker : workers_) {
        worker.order.reserve(dataset_.samples);
        worker.group_candidates.reserve(k, d);
        worker.tile_candidates.reserve(k, d);
        worker.scores.resize(static_cast<std::size_t>(k + BoxCentroids<T>::kPadding));
      }
      all_centroids_.reserve(k, d);
      clusters_ = k;
      return true;
    } catch (const std::bad_alloc&) {
      enabled_ = false;
      clusters_ = 0;
      return false;
    }
  }

  template <class NeedsExact, class Report>
  void label_part(SpatialWorker& worker, lloyd::RowRange positions, std::int32_t* labels,
                  const NeedsExact& needs_exact, const Report& report, SpatialCounts& counts) {
    typename SpatialTiles<T>::Part& part = tiles_.part(positions.begin);
    bool has_last_labels = std::exchange(part.pass, passes_) == passes_ - 1;
    if (part.positions != positions.size()) {
      tiles_.build(set_, dataset_, positions, origin_, worker.order);
      has_last_labels = sorted_pass_ == passes_;
    }
    std::int32_t owners[SpatialTiles<T>::kGroupTiles];
    const std::int64_t tiles = (positions.end + kTile - 1) / kTile;
    for (std::int64_t t = positions.begin / kTile; t < tiles; ++t) {
      if (t % SpatialTiles<T>::kGroupTiles == 0) {
        const BoxGroup<T>& group = tiles_.group(t / SpatialTiles<T>::kGroupTiles);
        screen_box(set_, group.all, dataset_.features, limit_, all_centroids_, worker.scores.data(),
                   worker.group_candidates);
        screen_group(set_, group, dataset_.features, limit_, worker.group_candidates, owners);
        counts.distances +=
            all_centroids_.count + worker.group_candidates.count * SpatialTiles<T>::kGroupTiles;
      }
      SpatialTile<T>& tile = tiles_.tile(t);
      if (!has_last_labels) tile.unknown_mask = ~std::uint64_t{0};
      const std::int32_t owner = owners[t % SpatialTiles<T>::kGroupTiles];
      if (owner >= 0 && tile.label == owner && tile.unknown_mask == 0) continue;
      if (t + 1 < tiles) prefetch(t + 1);
      const BoxCentroids<T>* candidates = &worker.group_candidates;
      if (candidates->count > 1) {
        screen_box(set_, tile.box, dataset_.features, limit_, worker.group_candidates,
                   worker.scores.data(), worker.tile_candidates);
        counts.distances += candidates->count;
        candidates = &worker.tile_candidates;
      }
      const auto first = static_cast<std::int32_t>(candidates->indices.front());
      const bool single = candidates->count == 1;
      if (!single) counts.distances += candidates->count * tile.count;
      restore_labels(tile, t, labels);
      TileLabels nearest;
      screen_box_tile(set_, tiles_.values(t), origin_, tile.box, dataset_.features, limit_,
                      *candidates, tiles_.labels(t), nearest);
      const std::uint64_t all = ~std::uint64_t{0} >> (kTile - tile.count);
      for (std::uint64_t open_mask = nearest.unproven & all; open_mask != 0;
           open_mask &= open_mask - 1) {
        const int lane = std::countr_zero(open_mask);
        const std::uint32_t row = tiles_.rows(t)[lane];
        labels[row] = tiles_.labels(t)[lane];  // may be deferred: the exact fallback reads it
        needs_exact(row);
      }
      const std::int64_t moved = apply_changes(nearest.changed & ~nearest.unproven & all, t,
                                               nearest.labels, labels, worker);
      report(worker.samples, dataset_.features, worker.changes, moved);
      counts.changed += moved;
      std::copy_n(nearest.labels, kTile, tiles_.labels(t));
      tile.unknown_mask = nearest.unproven;
      tile.label = single ? first : SpatialTile<T>::kMixed;
    }
  }

  // Writes the former labels of a tile to its array of labels.
  void restore_labels(const SpatialTile<T>& tile, std::int64_t t, const std::int32_t* labels) {
    std::int32_t* const former = tiles_.labels(t);
    if (tile.label != SpatialTile<T>::kMixed) std::fill_n(former, kTile, tile.label);
    for (std::uint64_t left = tile.unknown_mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      former[lane] = labels[tiles_.rows(t)[lane]];
    }
  }

  // Writes changed labels and collects their samples in the worker.
  std::int64_t apply_changes(std::uint64_t lanes, std::int64_t t, const std::int32_t* nearest,
                             std::int32_t* labels, SpatialWorker& worker) {
    const std::int64_t d = dataset_.features;
    const T* const values = tiles_.values(t)->lanes;
    const std::int32_t* const former = tiles_.labels(t);
    const std::uint32_t* const rows = tiles_.rows(t);
    std::int64_t moved = 0;
    for (; lanes != 0; lanes &= lanes - 1, ++moved) {
      const int lane = std::countr_zero(lanes);
      if (!defers_labels_) labels[rows[lane]] = nearest[lane];
      worker.changes[moved] = {moved, former[lane], nearest[lane]};
      for (std::int64_t j = 0; j < d; ++j) {
        worker.samples[moved * d + j] = values[j * kTile + lane];
      }
    }
    return moved;
  }

  // Prefetches a tile whose samples have different labels.
  void prefetch(std::int64_t t) {
    if (tiles_.tile(t).label != SpatialTile<T>::kMixed) return;
    const auto* const first = reinterpret_cast<const char*>(tiles_.values(t));
    const auto* const end = reinterpret_cast<const char*>(tiles_.rows(t) + kTile);
    for (const char* at = first; at < end; at += 64) __builtin_prefetch(at);
  }

  lloyd::DatasetView dataset_;
  InstructionSet set_;
  lloyd::ThreadTeam& team_;
  SpatialTiles<T> tiles_;
  std::vector<SpatialWorker> workers_;
  BoxCentroids<T> all_centroids_;
  const T* origin_ = nullptr;
  ScoreLimit<T> limit_{};
  std::int64_t clusters_ = 0;  // k for which memory is allocated
  // The pass at whose start the samples and their labels were sorted.
  std::int64_t sorted_pass_ = 0;
  std::int64_t passes_ = 0;      // counted over all fits
  std::int64_t fit_passes_ = 0;  // of this fit
  bool enabled_ = false, active_ = false;
  bool defers_labels_ = false;  // whether labels may stay unwritten
};

}  // namespace lloyd_openmp
