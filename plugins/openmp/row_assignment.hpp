// RowAssignment: labels blocks of rows in their order in memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/types.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "bounds/bound_kernels.hpp"
#include "bounds/bounds.hpp"
#include "bounds/group_scans.hpp"
#include "bounds/pruning.hpp"
#include "common/instruction_set.hpp"
#include "common/tile.hpp"
#include "common/tile_labels.hpp"
#include "row_worker.hpp"
#include "screens/dataset_screen.hpp"
#include "screens/exact_labels.hpp"
#include "sums/sum_kernels.hpp"
#include "waiting_rows.hpp"

namespace lloyd_openmp {

/// A cascade, from cheap to expensive; each stage takes the rows that the previous one leaves open:
///   1. stored bounds (if the pass uses bounds), then the same with the upper bound replaced by the
///      measured distance to the assigned centroid;
///   2. a scan of centroid groups, or a screen of a tile, in integers or floating point;
///   3. after an integer screen, a floating-point screen of the open rows;
///   4. the definition, in float64.
/// Rows that a stage leaves open wait in the worker until they fill a tile.
///
/// T: type of the samples.
template <class T>
class RowAssignment {
 public:
  /// The data that `dataset` refers to must outlive it.
  RowAssignment(const lloyd::DatasetView& dataset, InstructionSet set, Algorithm algorithm)
      : dataset_(dataset),
        set_(set),
        screens_(dataset, set),
        exact_(dataset, set),
        pruning_(algorithm) {}

  /// Bytes of `threads` workers and of the data that they share. `stores_tiles`: as for
  /// begin_fit().
  static std::int64_t bytes(std::int64_t n, std::int64_t k, std::int64_t d, std::int64_t threads,
                            Algorithm algorithm, bool stores_tiles) {
    const std::int64_t scans =
        Pruning::may_scan_groups(algorithm, k, d)
            ? threads * ScanScratch<T>::bytes(k, d) + GroupScans<T>::bytes(k, d)
            : 0;
    return threads * RowWorker<T>::bytes(k, d) +
           DatasetScreen<T>::bytes(stores_tiles ? n : 0, k, d) + scans +
           Pruning::bytes(algorithm, n, k, d);
  }

  /// Call before the first pass of a fit. `keeps_bounds`, `stores_tiles`: whether bounds and
  /// rounded samples of one pass may serve the next.
  void begin_fit(bool keeps_bounds, bool stores_tiles) {
    begin_bounds(keeps_bounds);
    screens_.store_samples(stores_tiles);
    scans_.reset();
  }

  /// Starts storing bounds within a fit if `wanted`; otherwise stops storing them.
  void begin_bounds(bool wanted) { pruning_.begin(wanted, dataset_.samples); }

  /// Call before each pass. `centroids`: k x d; they stay valid during the pass.
  void set_centroids(const double* centroids, std::int64_t k) {
    centroids_ = centroids;
    clusters_ = k;
    screens_.set_centroids(centroids, k);
    exact_.set_centroids(centroids, k);
  }

  /// Call before each pass, after set_centroids(). `open_count`: rows whose bounds proved nothing
  /// in the last pass.
  void begin_pass(std::int64_t open_count) {
    pruning_.next_pass(centroids_, clusters_, dataset_.features, open_count);
    if (!pruning_.scans_groups()) return;
    scans_.begin_pass(pruning_, dataset_.samples, centroids_, clusters_, dataset_.features);
    if (screens_.can_screen()) {
      scans_.set_centroids(centroids_, screens_.origin(), screens_.scan_limit());
    }
  }

  /// Gives a worker the memory that this pass needs.
  void prepare(RowWorker<T>& worker) const {
    worker.screens.prepare(clusters_);
    if (pruning_.scans_groups()) worker.scans.prepare(clusters_, dataset_.features);
  }

  const DatasetScreen<T>& screens() const { return screens_; }

  /// From now on row i is at `data` + i * stride for the rows of `window`.
  void use_samples(const void* data, lloyd::RowRange window) {
    dataset_.data = data;
    screens_.use_samples(data, window);
    exact_.use_samples(data);
  }

  /// Labels the rows of a block, given their former labels. Calls report(samples, stride, changes,
  /// count) for batches of labels that change, and returns how many do. The sample of a change is
  /// at samples + row * stride.
  template <class Report>
  std::int64_t assign(RowWorker<T>& worker, lloyd::RowRange block, std::int32_t* labels,
                      const Report& report) const {
    std::int32_t* const row_labels = labels - block.begin;
    const bool rows_uncached = screens_.uses_stored_tiles();
    const bool prefetch_changes = rows_uncached && dataset_.features < kMinBatchedFeatures;
    std::int64_t changed = 0;
    const auto relabel = [&](std::int64_t row, std::int32_t label) {
      std::int32_t& former = row_labels[row];
      if (former == label) return;
      worker.changes.add({row, former, label});
      if (former >= 0 && prefetch_changes) prefetch(row);
      former = label;
      ++changed;
    };
    const auto send = [&](const lloyd::LabelChange* changes, std::int64_t count) {
      report(row(0), dataset_.stride, changes, count);
    };
    for (std::int64_t begin = block.begin; begin < block.end; begin += kTile) {
      const std::int64_t rows = std::min(kTile, block.end - begin);
      if (screens_.can_screen()) {
        assign_tile(begin, rows, row_labels + begin, worker, relabel);
      } else {
        queue_for_exact(begin, rows, worker);
      }
      if (worker.bound_open.has_full_tile()) tighten_bounds(row_labels, worker, relabel);
      if (worker.tightened_open.has_full_tile()) screen_tightened(row_labels, worker, relabel);
      if (worker.integer_open.has_full_tile()) screen_again(row_labels, worker, relabel);
      if (worker.needs_exact.has_full_tile()) label_waiting_exactly(worker, relabel);
      worker.changes.end_tile(rows_uncached, send);
    }
    while (!worker.bound_open.empty()) tighten_bounds(row_labels, worker, relabel);
    while (!worker.tightened_open.empty()) screen_tightened(row_labels, worker, relabel);
    while (!worker.integer_open.empty()) screen_again(row_labels, worker, relabel);
    while (!worker.needs_exact.empty()) label_waiting_exactly(worker, relabel);
    worker.changes.flush(send);
    return changed;
  }

  /// Labels up to a tile of the rows in worker.needs_exact; calls relabel(row, label) for each.
  template <class Relabel>
  void label_waiting_exactly(RowWorker<T>& worker, const Relabel& relabel) const {
    const std::int64_t count = worker.needs_exact.count();
    const std::int64_t* rows = worker.needs_exact.first();
    alignas(64) std::int32_t labels[kTile];
    exact_.label(rows, count, worker.screens.exact_tile(), labels);
    for (std::int64_t lane = 0; lane < count; ++lane) relabel(rows[lane], labels[lane]);
    worker.exact_fallbacks += count;
    worker.needs_exact.drop(count);
  }

 private:
  /// If at least this many rows of a tile are open, the whole tile is screened in place: gathering
  /// the open rows would cost more than skipping the proven ones saves.
  static constexpr int kMinOpenRowsInPlace = 48;

  const T* row(std::int64_t i) const {
    return static_cast<const T*>(dataset_.data) + i * dataset_.stride;
  }

  // The first 256 bytes of a row; hardware prefetching covers the rest.
  void prefetch(std::int64_t i) const {
    constexpr std::int64_t kMaxValues = 256 / sizeof(T);
    constexpr std::int64_t kLine = 64 / sizeof(T);
    for (std::int64_t j = 0; j < std::min(dataset_.features, kMaxValues); j += kLine) {
      __builtin_prefetch(row(i) + j);
    }
  }

  // For centroids without an error bound: leaves the rows to the exact fallback.
  void queue_for_exact(std::int64_t begin, std::int64_t rows, RowWorker<T>& worker) const {
    for (std::int64_t i = begin; i < begin + rows; ++i) {
      worker.needs_exact.add(i);
      if (pruning_.keeps_bounds()) reset_bounds(pruning_.bounds().of(i));
      if (pruning_.scans_groups()) scans_.fill(i, 0);
    }
    worker.distances += rows * clusters_;
  }

  template <class Relabel>
  void assign_tile(std::int64_t begin, std::int64_t rows, const std::int32_t* labels,
                   RowWorker<T>& worker, const Relabel& relabel) const {
    const SampleBounds& bounds = pruning_.bounds();
    std::int32_t padded[kTile];
    const std::int32_t* former = labels;
    if (rows < kTile) {
      std::fill(std::copy_n(labels, rows, padded), padded + kTile, 0);
      former = padded;
    }
    if (pruning_.begins_groups()) {
      const Drift maximum = bounds.drift().maximum();
      for (std::int64_t i = begin; i < begin + rows; ++i) {
        scans_.fill(i, read_lower(*bounds.of(i).lower, maximum));
      }
    }
    if (pruning_.uses_bounds()) {
      const std::uint64_t open_mask = bounds.find_open_rows(set_, begin, rows, former);
      const int count = std::popcount(open_mask);
      worker.open_count += count;
      if (count < std::min<std::int64_t>(rows, kMinOpenRowsInPlace)) {
        for (std::uint64_t left = open_mask; left != 0; left &= left - 1) {
          const std::int64_t waiting = begin + std::countr_zero(left);
          worker.bound_open.add(waiting);
          __builtin_prefetch(row(waiting));
        }
        return;
      }
    }
    TileLabels nearest;
    TileBounds tile_bounds;
    if (pruning_.keeps_bounds()) nearest.bounds = &tile_bounds;
    screens_.screen(begin, rows, former, worker.screens, nearest);
    worker.distances += rows * clusters_;
    if (pruning_.keeps_bounds()) bounds.store_tile(set_, begin, rows, nearest);
    if (pruning_.scans_groups()) scans_.cover_former_centroids(begin, rows, labels, nearest);
    apply_labels(
        nearest, rows, [begin](int lane) { return begin + lane; },
        screens_.screens_twice() ? worker.integer_open : worker.needs_exact, relabel);
  }

  // Replaces the upper bounds of up to a tile of rows by their measured distances to their own
  // centroids. Rows that stay open are scanned immediately, or wait for a screen.
  template <class Relabel>
  void tighten_bounds(const std::int32_t* labels, RowWorker<T>& worker,
                      const Relabel& relabel) const {
    const SampleBounds& stored = pruning_.bounds();
    const std::int64_t count = worker.bound_open.count();
    const std::int64_t* rows = worker.bound_open.first();
    double squared[kTile];
    measure_distances(set_, row(0), dataset_.stride, dataset_.features, rows, count, labels,
                      centroids_, squared);
    worker.distances += count;
    const Drift maximum = stored.drift().maximum();
    for (std::int64_t i = 0; i < count; ++i) {
      const StoredBounds bounds = stored.of(rows[i]);
      const float upper = upper_bound(squared[i]);
      if (proves_label(upper, read_lower(*bounds.lower, maximum))) {
        *bounds.upper = store_upper(upper, stored.drift().of(labels[rows[i]]));
      } else if (pruning_.scans_groups()) {
        scan_row(rows[i], labels[rows[i]], squared[i], worker, relabel);
      } else {
        worker.tightened_open.add(rows[i]);
      }
    }
    worker.bound_open.drop(count);
  }

  template <class Relabel>
  void scan_row(std::int64_t i, std::int32_t own, double own_squared, RowWorker<T>& worker,
                const Relabel& relabel) const {
    const ScanResult found = scans_.scan(set_, i, row(i), dataset_.features, screens_.origin(), own,
                                         own_squared, worker.scans);
    worker.distances += found.distances;
    const StoredBounds bounds = pruning_.bounds().of(i);
    if (!found.proven) {
      reset_bounds(bounds);
      worker.needs_exact.add(i);
      return;
    }
    const CentroidDrift& drift = pruning_.bounds().drift();
    *bounds.upper = store_upper(found.upper, drift.of(found.label));
    *bounds.lower = store_lower(found.lower, drift.maximum());
    relabel(i, found.label);
  }

  template <class Relabel>
  void screen_tightened(const std::int32_t* labels, RowWorker<T>& worker,
                        const Relabel& relabel) const {
    // The distance to the assigned centroid has been counted by tighten_bounds().
    worker.distances += worker.tightened_open.count() * (clusters_ - 1);
    screen_waiting(labels, worker, worker.tightened_open,
                   screens_.screens_twice() ? worker.integer_open : worker.needs_exact, relabel,
                   [&](auto&&... arguments) { screens_.screen(arguments...); });
  }
  template <class Relabel>
  void screen_again(const std::int32_t* labels, RowWorker<T>& worker,
                    const Relabel& relabel) const {
    screen_waiting(labels, worker, worker.integer_open, worker.needs_exact, relabel,
                   [&](auto&&... arguments) { screens_.screen_again(arguments...); });
  }

  // Screens up to a tile of waiting rows. labels[row]: former labels.
  template <class Relabel, class Screen>
  void screen_waiting(const std::int32_t* labels, RowWorker<T>& worker, WaitingRows& waiting,
                      WaitingRows& open_rows, const Relabel& relabel, const Screen& screen) const {
    const std::int64_t count = waiting.count();
    const std::int64_t* rows = waiting.first();
    std::int32_t former[kTile];
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      former[lane] = labels[rows[lane < count ? lane : 0]];
    }
    TileLabels nearest;
    TileBounds bounds;
    if (pruning_.keeps_bounds()) nearest.bounds = &bounds;
    screen(rows, count, former, worker.screens, nearest);
    if (pruning_.keeps_bounds()) pruning_.bounds().store_rows(set_, rows, count, nearest);
    apply_labels(
        nearest, count, [rows](int lane) { return rows[lane]; }, open_rows, relabel);
    waiting.drop(count);
  }

  // Calls relabel() for proven labels that changed; unproven rows go to `open_rows`. row_of(lane):
  // the row in a lane of the tile.
  template <class RowOf, class Relabel>
  static void apply_labels(const TileLabels& nearest, std::int64_t rows, const RowOf& row_of,
                           WaitingRows& open_rows, const Relabel& relabel) {
    const std::uint64_t used = lane_mask(rows);
    for (std::uint64_t left = nearest.unproven & used; left != 0; left &= left - 1) {
      open_rows.add(row_of(std::countr_zero(left)));
    }
    for (std::uint64_t left = nearest.changed & ~nearest.unproven & used; left != 0;
         left &= left - 1) {
      const int lane = std::countr_zero(left);
      relabel(row_of(lane), nearest.labels[lane]);
    }
  }

  lloyd::DatasetView dataset_;
  InstructionSet set_;
  DatasetScreen<T> screens_;
  ExactLabeller<T> exact_;
  Pruning pruning_;
  GroupScans<T> scans_;
  const double* centroids_ = nullptr;
  std::int64_t clusters_ = 0;
};

}  // namespace lloyd_openmp
