// Assignment: labels blocks of rows. Bounds apply what they can, screens most of the rest, and the
// definition what these leave open.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <lloyd/plugin/dataset_view.hpp>
#include <lloyd/plugin/types.hpp>

#include "bound_kernels.hpp"
#include "bounds.hpp"
#include "centroid_groups.hpp"
#include "group_bounds.hpp"
#include "instruction_set.hpp"
#include "large_pages.hpp"
#include "nearest.hpp"
#include "pruning.hpp"
#include "scan.hpp"
#include "scratch.hpp"
#include "spatial_screen.hpp"
#include "sum_kernels.hpp"
#include "tile.hpp"
#include "tile_screens.hpp"

namespace lloyd_openmp {

/// T: type of the samples.
template <class T>
class Assignment {
 public:
  static constexpr std::int64_t kBlockAlignment = SpatialScreen<T>::kBlockAlignment;

  /// What `dataset` points to must outlive it. `min_spatial_samples`: samples from which on few
  /// features are screened by neighbours.
  Assignment(const lloyd::DatasetView& dataset, int threads, InstructionSet set,
             Algorithm algorithm, std::int64_t min_spatial_samples = SpatialScreen<T>::kMinSamples)
      : dataset_(dataset),
        set_(set),
        screens_(dataset, set),
        spatial_allowed_(
            spatial_pays(algorithm, dataset.samples, dataset.features, min_spatial_samples)),
        spatial_(dataset, set, threads),
        pruning_(algorithm),
        no_origin_(static_cast<std::size_t>(dataset.features)) {
    // Not copies of one: a copy of a vector has no room in reserve.
    scratch_.reserve(static_cast<std::size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) scratch_.emplace_back(dataset.features);
  }

  static std::int64_t bytes(std::int64_t n, std::int64_t k, std::int64_t d, std::int64_t threads,
                            Algorithm algorithm) {
    const bool spatial = spatial_pays(algorithm, n, d);
    const std::int64_t scans =
        Pruning::may_scan_groups(algorithm, k, d)
            ? threads * Scratch<T>::scan_bytes(k, d) + CentroidGroups<T>::bytes(k, d)
            : 0;
    return threads * Scratch<T>::bytes(k, d) + TileScreens<T>::bytes(spatial ? 0 : n, k, d) +
           scans + Pruning::bytes(algorithm, n, k, d) +
           (spatial ? SpatialScreen<T>::bytes(n, k, d, threads) : 0);
  }

  /// Whether the passes to come belong to one fit, so that bounds of one serve the next, and
  /// samples that were rounded.
  void keep_bounds(bool wanted) {
    fit_begins_ = wanted;
    spatial_.begin_fit(wanted && spatial_allowed_);
    pruning_.begin(wanted && !spatial_allowed_, dataset_.samples);
    screens_.store_samples(wanted && !spatial_allowed_);
    group_bounds_ = {};
    for (Scratch<T>& scratch : scratch_) {
      scratch.distances = scratch.decided = scratch.open = 0;
      scratch.labels = nullptr;
    }
  }

  /// Whether assign_positions() need not write labels in the fit that keep_bounds() began, until
  /// write_labels() is called.
  void defer_labels(bool allowed) { spatial_.defer_labels(allowed); }
  void write_labels(std::int32_t* labels) { spatial_.write_labels(labels); }

  /// Before each pass. `centroids`: k x d; they stay valid during it. `in_space`: whether it is by
  /// assign_positions(), otherwise by assign().
  void set_centroids(const double* centroids, std::int64_t k, bool in_space) {
    centroids_ = centroids;
    clusters_ = k;
    screens_.set_centroids(centroids, k);
    // A fit that keeps nothing has no use for what others left.
    if (fit_begins_ && !spatial_allowed_ && !screens_.uses_stored_tiles()) trim_pages();
    if (!in_space) {
      spatial_.skip_pass();
      // A fit whose first pass is by rows has all of them so.
      if (fit_begins_ && spatial_allowed_) leave_spatial_order();
    } else if (spatial_.begin_pass(centroids, k, screens_.origin(),
                                   screens_.fits() ? &screens_.unmarked_limit() : nullptr,
                                   all_labels())) {
      leave_spatial_order();
    }
    fit_begins_ = false;
    std::int64_t open = 0;
    for (Scratch<T>& scratch : scratch_) open += std::exchange(scratch.open, 0);
    pruning_.next_pass(centroids, k, dataset_.features, open);
    for (Scratch<T>& scratch : scratch_) scratch.prepare(k, pruning_.scans_groups());
    if (!pruning_.scans_groups()) return;
    if (pruning_.begins_groups()) {
      groups_.make(centroids, k, dataset_.features);
      group_bounds_.begin(pruning_.bound_kind(), dataset_.samples, k);
    } else {
      group_bounds_.add_drift(pruning_.drift(), groups_.centroids().labels);
    }
    if (!screens_.fits()) return;
    groups_.set_centroids(centroids, screens_.origin(), screens_.scan_limit());
  }

  /// Labels the rows of a block, given their former labels, as one of `threads`. Calls
  /// report(samples, stride, changes, count) for labels that change, some at a time, and returns
  /// how many do. A change's sample is at samples + row * stride.
  template <class Report>
  std::int64_t assign(int thread, lloyd::RowRange block, std::int32_t* labels,
                      const Report& report) {
    Scratch<T>& scratch = scratch_[static_cast<std::size_t>(thread)];
    std::int32_t* const of_row = labels - block.begin;
    std::int64_t changed = 0;
    const auto set = [&](std::int64_t row, std::int32_t label) {
      std::int32_t& former = of_row[row];
      if (former == label) return;
      scratch.changes.push_back({row, former, label});
      if (former >= 0 && screens_.uses_stored_tiles() && !sums_prefetch()) prefetch(row);
      former = label;
      ++changed;
    };
    // Whoever is told reads the samples. Where screens do not, as after the first pass, these take
    // their time to come from memory: they are told of a tile later at the soonest, those of some
    // tiles at a time, since sums take less of many. With many features sums ask for them.
    std::size_t ready = 0;
    const auto report_ready = [&] {
      std::vector<lloyd::LabelChange>& changes = scratch.changes;
      report(row(0), dataset_.stride, changes.data(), static_cast<std::int64_t>(ready));
      changes.erase(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(ready));
    };
    int tiles = 0;  // since it was told of some
    const auto end_tile = [&] {
      const std::vector<lloyd::LabelChange>& changes = scratch.changes;
      const bool later =
          screens_.uses_stored_tiles() && !changes.empty() && changes.back().from >= 0;
      if (!later || sums_prefetch()) ready = changes.size();
      const bool full =
          sums_prefetch() ? std::ssize(changes) >= kMaxBatchedSamples : ++tiles == kTilesPerReport;
      if (!later || full) {
        report_ready();
        tiles = 0;
      }
      ready = changes.size();
    };
    for (std::int64_t begin = block.begin; begin < block.end; begin += kTile) {
      const std::int64_t rows = std::min(kTile, block.end - begin);
      if (!screens_.fits()) {
        for (std::int64_t i = begin; i < begin + rows; ++i) {
          scratch.needs_exact.add(i);
          if (pruning_.keeps_bounds()) reset_bounds(pruning_.of(i));
          if (pruning_.scans_groups()) group_bounds_.fill(i, 0);
        }
        scratch.distances += rows * clusters_;
      } else {
        assign_tile(begin, rows, of_row + begin, scratch, set);
      }
      if (scratch.bound_open.has_full_tile()) tighten_bounds(of_row, scratch, set);
      if (scratch.tightened_open.has_full_tile()) screen_tightened_open(of_row, scratch, set);
      if (scratch.integer_open.has_full_tile()) screen_integer_open(of_row, scratch, set);
      if (scratch.needs_exact.has_full_tile()) label_waiting_exactly(scratch, set);
      end_tile();
    }
    while (!scratch.bound_open.empty()) tighten_bounds(of_row, scratch, set);
    while (!scratch.tightened_open.empty()) screen_tightened_open(of_row, scratch, set);
    while (!scratch.integer_open.empty()) screen_integer_open(of_row, scratch, set);
    while (!scratch.needs_exact.empty()) label_waiting_exactly(scratch, set);
    ready = scratch.changes.size();
    report_ready();
    return changed;
  }

  /// Where those of all rows are in a fit whose passes, but for some, are by assign_positions():
  /// what it keeps for itself is only made for these. As one of the threads.
  void set_all_labels(int thread, std::int32_t* labels) {
    scratch_[static_cast<std::size_t>(thread)].labels = labels;
  }

  /// Whether assign_positions() labels others than the rows that it is given in this pass.
  bool in_space() const { return spatial_.active(); }

  /// Labels as many rows as assign(), but maybe others: when it was called for all blocks of a
  /// pass, each of which begins with a multiple of kBlockAlignment, all rows have been labelled
  /// once. `labels`: of all rows of the data set.
  template <class Report>
  std::int64_t assign_positions(int thread, lloyd::RowRange block, std::int32_t* labels,
                                const Report& report) {
    set_all_labels(thread, labels);
    if (!spatial_.active()) return assign(thread, block, labels + block.begin, report);
    Scratch<T>& scratch = scratch_[static_cast<std::size_t>(thread)];
    std::int64_t decided = 0;
    const auto decide_waiting = [&] {
      label_waiting_exactly(scratch, [&](std::int64_t row, std::int32_t label) {
        std::int32_t& former = labels[row];
        if (former == label) return;
        const lloyd::LabelChange change{row, former, label};
        report(this->row(0), dataset_.stride, &change, 1);
        former = label;
        ++decided;
      });
    };
    const SpatialCounts work = spatial_.label(
        thread, block, labels,
        [&](std::int64_t row) {
          scratch.needs_exact.add(row);
          if (scratch.needs_exact.has_full_tile()) decide_waiting();
        },
        report);
    while (!scratch.needs_exact.empty()) decide_waiting();
    scratch.distances += work.distances;
    return work.changed + decided;
  }

  /// How many labels the definition decided since this was asked last.
  std::int64_t take_redecided() {
    std::int64_t decided = 0;
    for (Scratch<T>& scratch : scratch_) decided += std::exchange(scratch.decided, 0);
    return decided;
  }

  /// How many distances were computed or screened since this was asked last; where a screen leaves
  /// samples to another one, they count once.
  std::int64_t take_distances() {
    std::int64_t distances = 0;
    for (Scratch<T>& scratch : scratch_) distances += std::exchange(scratch.distances, 0);
    return distances;
  }

 private:
  /// Where so many of a tile's rows are not settled, all are screened where they lie.
  static constexpr int kMaxOpenRows = 48;

  /// Tiles whose changes are told of at a time: of more, what prefetch() asked for may have left
  /// the caches again.
  static constexpr int kTilesPerReport = 4;

  // The rest of the fit is by rows.
  void leave_spatial_order() {
    spatial_.begin_fit(false);
    pruning_.begin(true, dataset_.samples);
  }

  // What set_all_labels() told.
  std::int32_t* all_labels() const {
    for (const Scratch<T>& scratch : scratch_) {
      if (scratch.labels != nullptr) return scratch.labels;
    }
    return nullptr;
  }

  const T* row(std::int64_t i) const {
    return static_cast<const T*>(dataset_.data) + i * dataset_.stride;
  }

  bool sums_prefetch() const { return dataset_.features >= kMinBatchedFeatures; }

  // The first lines of it: the machine sees to the others.
  void prefetch(std::int64_t i) const {
    constexpr std::int64_t kMostValues = 256 / sizeof(T);
    constexpr std::int64_t kLine = 64 / sizeof(T);
    for (std::int64_t j = 0; j < std::min(dataset_.features, kMostValues); j += kLine) {
      __builtin_prefetch(row(i) + j);
    }
  }

  static bool spatial_pays(Algorithm algorithm, std::int64_t n, std::int64_t d,
                           std::int64_t least = SpatialScreen<T>::kMinSamples) {
    const bool without_bounds = algorithm == Algorithm::lloyd || algorithm == Algorithm::automatic;
    return without_bounds && SpatialScreen<T>::supports(n, d, least);
  }

  static std::uint64_t first_bits(std::int64_t count) {
    return count < kTile ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
  }

  template <class Set>
  void assign_tile(std::int64_t begin, std::int64_t rows, const std::int32_t* labels,
                   Scratch<T>& scratch, const Set& set) const {
    std::int32_t padded[kTile];
    const std::int32_t* former = labels;
    if (rows < kTile) {
      std::fill(std::copy_n(labels, rows, padded), padded + kTile, 0);
      former = padded;
    }
    if (pruning_.begins_groups()) {
      const Drift longest = pruning_.drift().maximum();
      for (std::int64_t i = begin; i < begin + rows; ++i) {
        group_bounds_.fill(i, read_lower(*pruning_.of(i).lower, longest));
      }
    }
    if (pruning_.uses_bounds()) {
      const std::uint64_t open = find_open_rows(begin, rows, former);
      const int count = std::popcount(open);
      scratch.open += count;
      if (count < std::min<std::int64_t>(rows, kMaxOpenRows)) {
        for (std::uint64_t left = open; left != 0; left &= left - 1) {
          const std::int64_t waiting = begin + std::countr_zero(left);
          scratch.bound_open.add(waiting);
          __builtin_prefetch(row(waiting));
        }
        return;
      }
    }
    TileLabels nearest;
    TileBounds bounds;
    if (pruning_.keeps_bounds()) nearest.bounds = &bounds;
    screens_.screen(begin, rows, former, scratch, nearest);
    scratch.distances += rows * clusters_;
    if (pruning_.keeps_bounds()) keep_bounds_of_tile(begin, rows, nearest);
    if (pruning_.scans_groups()) bound_former_centroids(begin, rows, labels, nearest);
    apply(
        nearest, rows, [begin](int lane) { return begin + lane; },
        screens_.screens_twice() ? scratch.integer_open : scratch.needs_exact, set);
  }

  // Whose bounds, as they were kept, do not prove that the label stands.
  std::uint64_t find_open_rows(std::int64_t begin, std::int64_t rows,
                               const std::int32_t* former) const {
    StoredBounds bounds = pruning_.of(begin);
    float upper[kTile], lower[kTile];
    if (rows < kTile) {
      std::fill(std::copy_n(bounds.upper, rows, upper), upper + kTile, 0.0f);
      std::fill(std::copy_n(bounds.lower, rows, lower), lower + kTile, 0.0f);
      bounds = {upper, lower};
    }
    return find_open(set_, former, bounds, pruning_.drift()) & first_bits(rows);
  }

  void keep_bounds_of_tile(std::int64_t begin, std::int64_t rows, const TileLabels& nearest) const {
    const StoredBounds bounds = pruning_.of(begin);
    if (rows == kTile) {
      store_bounds(set_, nearest, nearest.unproven, pruning_.drift(), bounds);
      return;
    }
    float upper[kTile], lower[kTile];
    store_bounds(set_, nearest, nearest.unproven, pruning_.drift(), {upper, lower});
    std::copy_n(upper, rows, bounds.upper);
    std::copy_n(lower, rows, bounds.lower);
  }

  // The centroids of former labels are among the others now, of which `nearest` has one lower
  // bound.
  void bound_former_centroids(std::int64_t begin, std::int64_t rows, const std::int32_t* former,
                              const TileLabels& nearest) const {
    for (std::uint64_t left = (nearest.changed | nearest.unproven) & first_bits(rows); left != 0;
         left &= left - 1) {
      const int lane = std::countr_zero(left);
      const bool known = (nearest.unproven >> lane & 1) == 0;
      const std::int32_t slot = groups_.centroids().slots[former[lane]];
      group_bounds_.limit_bound(begin + lane, slot, known ? nearest.bounds->lower[lane] : 0);
    }
  }

  void keep_bounds_of_rows(const std::int64_t* rows, std::int64_t count,
                           const TileLabels& nearest) const {
    float upper[kTile], lower[kTile];
    store_bounds(set_, nearest, nearest.unproven, pruning_.drift(), {upper, lower});
    for (std::int64_t lane = 0; lane < count; ++lane) {
      const StoredBounds bounds = pruning_.of(rows[lane]);
      *bounds.upper = upper[lane];
      *bounds.lower = lower[lane];
    }
  }

  // Measures the distance of up to a tile of samples to their own centroids; those that are not
  // settled by that either are scanned, or are loose.
  template <class Set>
  void tighten_bounds(const std::int32_t* labels, Scratch<T>& scratch, const Set& set) const {
    const std::int64_t count = scratch.bound_open.count();
    const std::int64_t* rows = scratch.bound_open.first();
    double squared[kTile];
    measure_distances(set_, row(0), dataset_.stride, dataset_.features, rows, count, labels,
                      centroids_, squared);
    scratch.distances += count;
    const Drift longest = pruning_.drift().maximum();
    for (std::int64_t i = 0; i < count; ++i) {
      const StoredBounds bounds = pruning_.of(rows[i]);
      const float upper = upper_bound(squared[i]);
      if (proves_label(upper, read_lower(*bounds.lower, longest))) {
        *bounds.upper = store_upper(upper, pruning_.drift().of(labels[rows[i]]));
      } else if (pruning_.scans_groups()) {
        scan_row(rows[i], labels[rows[i]], squared[i], scratch, set);
      } else {
        scratch.tightened_open.add(rows[i]);
      }
    }
    scratch.bound_open.drop(count);
  }

  template <class Set>
  void scan_row(std::int64_t i, std::int32_t own, double own_squared, Scratch<T>& scratch,
                const Set& set) const {
    const ScanResult found = scan_sample(set_, group_bounds_.kind(), row(i), dataset_.features,
                                         screens_.origin(), groups_.centroids(), own, own_squared,
                                         group_bounds_.of_sample(i), scratch.scan_values());
    scratch.distances += found.distances;
    const StoredBounds bounds = pruning_.of(i);
    if (!found.proven) {
      reset_bounds(bounds);
      scratch.needs_exact.add(i);
      return;
    }
    *bounds.upper = store_upper(found.upper, pruning_.drift().of(found.label));
    *bounds.lower = store_lower(found.lower, pruning_.drift().maximum());
    set(i, found.label);
  }

  template <class Set>
  void screen_tightened_open(const std::int32_t* labels, Scratch<T>& scratch,
                             const Set& set) const {
    // That to the own centroid is known.
    scratch.distances += scratch.tightened_open.count() * (clusters_ - 1);
    screen_waiting(labels, scratch, scratch.tightened_open,
                   screens_.screens_twice() ? scratch.integer_open : scratch.needs_exact, set,
                   [&](auto&&... arguments) { screens_.screen(arguments...); });
  }
  template <class Set>
  void screen_integer_open(const std::int32_t* labels, Scratch<T>& scratch, const Set& set) const {
    screen_waiting(labels, scratch, scratch.integer_open, scratch.needs_exact, set,
                   [&](auto&&... arguments) { screens_.screen_again(arguments...); });
  }

  // Screens up to a tile of waiting samples. labels[row]: former labels.
  template <class Set, class Screen>
  void screen_waiting(const std::int32_t* labels, Scratch<T>& scratch, WaitingRows& waiting,
                      WaitingRows& open, const Set& set, const Screen& screen) const {
    const std::int64_t count = waiting.count();
    const std::int64_t* rows = waiting.first();
    std::int32_t former[kTile];
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      former[lane] = labels[rows[lane < count ? lane : 0]];
    }
    TileLabels nearest;
    TileBounds bounds;
    if (pruning_.keeps_bounds()) nearest.bounds = &bounds;
    screen(rows, count, former, scratch, nearest);
    if (pruning_.keeps_bounds()) keep_bounds_of_rows(rows, count, nearest);
    apply(
        nearest, count, [rows](int lane) { return rows[lane]; }, open, set);
    waiting.drop(count);
  }

  // The least label of each row that is proven goes to set(), the rows that are not to `open`.
  // row_of(lane) are the tile's rows.
  template <class RowOf, class Set>
  static void apply(const TileLabels& nearest, std::int64_t rows, const RowOf& row_of,
                    WaitingRows& open, const Set& set) {
    const std::uint64_t wanted = first_bits(rows);
    for (std::uint64_t left = nearest.unproven & wanted; left != 0; left &= left - 1) {
      open.add(row_of(std::countr_zero(left)));
    }
    for (std::uint64_t left = nearest.changed & ~nearest.unproven & wanted; left != 0;
         left &= left - 1) {
      const int lane = std::countr_zero(left);
      set(row_of(lane), nearest.labels[lane]);
    }
  }

  // Labels up to a tile of samples by the definition.
  template <class Set>
  void label_waiting_exactly(Scratch<T>& scratch, const Set& set) const {
    const std::int64_t d = dataset_.features;
    TileVector<double>* const tile = scratch.exact_tile();
    const std::int64_t count = scratch.needs_exact.count();
    const std::int64_t* rows = scratch.needs_exact.first();
    gather_tile(row(0), dataset_.stride, rows, count, d, no_origin_.data(), tile);
    alignas(64) std::int32_t labels[kTile];
    label_exactly(set_, tile, count, d, centroids_, clusters_, labels);
    for (std::int64_t lane = 0; lane < count; ++lane) set(rows[lane], labels[lane]);
    scratch.decided += count;
    scratch.needs_exact.drop(count);
  }

  lloyd::DatasetView dataset_;
  InstructionSet set_;
  TileScreens<T> screens_;
  bool spatial_allowed_;
  bool fit_begins_ = false;
  SpatialScreen<T> spatial_;
  Pruning pruning_;
  CentroidGroups<T> groups_;
  GroupBoundStore group_bounds_;
  std::vector<double> no_origin_;    // zeros
  std::vector<Scratch<T>> scratch_;  // one per thread
  std::int64_t clusters_ = 0;
  const double* centroids_ = nullptr;
};

}  // namespace lloyd_openmp
