// Assignment: labels blocks of rows. Bounds settle what they can, screens most of the rest, and the
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
  static constexpr std::int64_t kUnit = SpatialScreen<T>::kUnit;

  /// What `dataset` points to must outlive it. `least_in_space`: samples from which on few features
  /// are screened by neighbours.
  Assignment(const lloyd::DatasetView& dataset, int threads, InstructionSet set,
             Algorithm algorithm, std::int64_t least_in_space = SpatialScreen<T>::kLeastSamples)
      : dataset_(dataset),
        set_(set),
        screens_(dataset, set),
        spatial_wanted_(spatial_pays(algorithm, dataset.samples, dataset.features, least_in_space)),
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
        Pruning::scans(algorithm, k, d)
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
    spatial_.begin(wanted && spatial_wanted_);
    pruning_.begin(wanted && !spatial_wanted_, dataset_.samples);
    screens_.keep_samples(wanted && !spatial_wanted_);
    group_bounds_ = {};
    for (Scratch<T>& scratch : scratch_) {
      scratch.distances = scratch.decided = scratch.open = 0;
      scratch.labels = nullptr;
    }
  }

  /// Whether assign_some() need not write labels in the fit that keep_bounds() began, until
  /// write_labels() is called.
  void defer_labels(bool allowed) { spatial_.defer_labels(allowed); }
  void write_labels(std::int32_t* labels) { spatial_.write_labels(labels); }

  /// Before each pass. `centroids`: k x d; they stay valid during it. `in_space`: whether it is by
  /// assign_some(), otherwise by assign().
  void set_centroids(const double* centroids, std::int64_t k, bool in_space) {
    centroids_ = centroids;
    clusters_ = k;
    screens_.set_centroids(centroids, k);
    // A fit that keeps nothing has no use for what others left.
    if (fit_begins_ && !spatial_wanted_ && !screens_.kept()) release_memory();
    if (!in_space) {
      spatial_.skip_pass();
      // A fit whose first pass is by rows has all of them so.
      if (fit_begins_ && spatial_wanted_) leave_space();
    } else if (spatial_.next_pass(centroids, k, screens_.origin(),
                                  screens_.fits() ? &screens_.limit_unmarked() : nullptr,
                                  former_labels())) {
      leave_space();
    }
    fit_begins_ = false;
    std::int64_t open = 0;
    for (Scratch<T>& scratch : scratch_) open += std::exchange(scratch.open, 0);
    pruning_.next_pass(centroids, k, dataset_.features, open);
    for (Scratch<T>& scratch : scratch_) scratch.prepare(k, pruning_.scans());
    if (!pruning_.scans()) return;
    if (pruning_.begins_groups()) {
      groups_.make(centroids, k, dataset_.features);
      group_bounds_.begin(pruning_.bound_of(), dataset_.samples, k);
    } else {
      group_bounds_.move(pruning_.travel(), groups_.centroids().labels);
    }
    if (!screens_.fits()) return;
    groups_.set_centroids(centroids, screens_.origin(), screens_.limit_of_scans());
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
      if (former >= 0 && screens_.kept() && !sums_ask()) prefetch(row);
      former = label;
      ++changed;
    };
    // Whoever is told reads the samples. Where screens do not, as after the first pass, these take
    // their time to come from memory: they are told of a tile later at the soonest, those of some
    // tiles at a time, since sums take less of many. With many features sums ask for them.
    std::size_t known = 0;
    const auto report_known = [&] {
      std::vector<lloyd::LabelChange>& changes = scratch.changes;
      report(row(0), dataset_.stride, changes.data(), static_cast<std::int64_t>(known));
      changes.erase(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(known));
    };
    int tiles = 0;  // since it was told of some
    const auto end_tile = [&] {
      const std::vector<lloyd::LabelChange>& changes = scratch.changes;
      const bool later = screens_.kept() && !changes.empty() && changes.back().from >= 0;
      if (!later || sums_ask()) known = changes.size();
      const bool full =
          sums_ask() ? std::ssize(changes) >= kMostSummedTogether : ++tiles == kTilesToldOf;
      if (!later || full) {
        report_known();
        tiles = 0;
      }
      known = changes.size();
    };
    for (std::int64_t begin = block.begin; begin < block.end; begin += kTile) {
      const std::int64_t rows = std::min(kTile, block.end - begin);
      if (!screens_.fits()) {
        for (std::int64_t i = begin; i < begin + rows; ++i) {
          scratch.undecided.add(i);
          if (pruning_.keeps()) forget(pruning_.of(i));
          if (pruning_.scans()) group_bounds_.fill(i, 0);
        }
        scratch.distances += rows * clusters_;
      } else {
        assign_tile(begin, rows, of_row + begin, scratch, set);
      }
      if (scratch.unsettled.fill_tile()) settle_waiting(of_row, scratch, set);
      if (scratch.loose.fill_tile()) screen_loose(of_row, scratch, set);
      if (scratch.unproven.fill_tile()) screen_unproven(of_row, scratch, set);
      if (scratch.undecided.fill_tile()) decide(scratch, set);
      end_tile();
    }
    while (!scratch.unsettled.empty()) settle_waiting(of_row, scratch, set);
    while (!scratch.loose.empty()) screen_loose(of_row, scratch, set);
    while (!scratch.unproven.empty()) screen_unproven(of_row, scratch, set);
    while (!scratch.undecided.empty()) decide(scratch, set);
    known = scratch.changes.size();
    report_known();
    return changed;
  }

  /// Where those of all rows are in a fit whose passes, but for some, are by assign_some(): what it
  /// keeps for itself is only made for these. As one of the threads.
  void tell_labels(int thread, std::int32_t* labels) {
    scratch_[static_cast<std::size_t>(thread)].labels = labels;
  }

  /// Whether assign_some() labels others than the rows that it is given in this pass.
  bool in_space() const { return spatial_.uses(); }

  /// Labels as many rows as assign(), but maybe others: when it was called for all blocks of a
  /// pass, each of which begins with a multiple of kUnit, all rows have been labelled once.
  /// `labels`: of all rows of the data set.
  template <class Report>
  std::int64_t assign_some(int thread, lloyd::RowRange block, std::int32_t* labels,
                           const Report& report) {
    tell_labels(thread, labels);
    if (!spatial_.uses()) return assign(thread, block, labels + block.begin, report);
    Scratch<T>& scratch = scratch_[static_cast<std::size_t>(thread)];
    std::int64_t decided = 0;
    const auto decide_waiting = [&] {
      decide(scratch, [&](std::int64_t row, std::int32_t label) {
        std::int32_t& former = labels[row];
        if (former == label) return;
        const lloyd::LabelChange change{row, former, label};
        report(this->row(0), dataset_.stride, &change, 1);
        former = label;
        ++decided;
      });
    };
    const SpatialWork work = spatial_.label(
        thread, block, labels,
        [&](std::int64_t row) {
          scratch.undecided.add(row);
          if (scratch.undecided.fill_tile()) decide_waiting();
        },
        report);
    while (!scratch.undecided.empty()) decide_waiting();
    scratch.distances += work.distances;
    return work.changed + decided;
  }

  /// How many labels the definition decided since this was asked last.
  std::int64_t take_exact_fallbacks() {
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
  static constexpr int kManyOfTile = 48;

  /// Tiles whose changes are told of at a time: of more, what prefetch() asked for may have left
  /// the caches again.
  static constexpr int kTilesToldOf = 4;

  // The rest of the fit is by rows.
  void leave_space() {
    spatial_.begin(false);
    pruning_.begin(true, dataset_.samples);
  }

  // What tell_labels() told.
  std::int32_t* former_labels() const {
    for (const Scratch<T>& scratch : scratch_) {
      if (scratch.labels != nullptr) return scratch.labels;
    }
    return nullptr;
  }

  const T* row(std::int64_t i) const {
    return static_cast<const T*>(dataset_.data) + i * dataset_.stride;
  }

  bool sums_ask() const { return dataset_.features >= kLeastFeaturesSummedTogether; }

  // The first lines of it: the machine sees to the others.
  void prefetch(std::int64_t i) const {
    constexpr std::int64_t kMostValues = 256 / sizeof(T);
    constexpr std::int64_t kLine = 64 / sizeof(T);
    for (std::int64_t j = 0; j < std::min(dataset_.features, kMostValues); j += kLine) {
      __builtin_prefetch(row(i) + j);
    }
  }

  static bool spatial_pays(Algorithm algorithm, std::int64_t n, std::int64_t d,
                           std::int64_t least = SpatialScreen<T>::kLeastSamples) {
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
      const Travel longest = pruning_.travel().longest();
      for (std::int64_t i = begin; i < begin + rows; ++i) {
        group_bounds_.fill(i, lower_now(*pruning_.of(i).lower, longest));
      }
    }
    if (pruning_.uses()) {
      const std::uint64_t open = unsettled(begin, rows, former);
      const int count = std::popcount(open);
      scratch.open += count;
      if (count < std::min<std::int64_t>(rows, kManyOfTile)) {
        for (std::uint64_t left = open; left != 0; left &= left - 1) {
          const std::int64_t waiting = begin + std::countr_zero(left);
          scratch.unsettled.add(waiting);
          __builtin_prefetch(row(waiting));
        }
        return;
      }
    }
    TileLabels nearest;
    TileBounds bounds;
    if (pruning_.keeps()) nearest.bounds = &bounds;
    screens_.screen(begin, rows, former, scratch, nearest);
    scratch.distances += rows * clusters_;
    if (pruning_.keeps()) keep_bounds_of_tile(begin, rows, nearest);
    if (pruning_.scans()) bound_left_centroids(begin, rows, labels, nearest);
    settle(
        nearest, rows, [begin](int lane) { return begin + lane; },
        screens_.screens_twice() ? scratch.unproven : scratch.undecided, set);
  }

  // Whose bounds, as they were kept, do not prove that the label stands.
  std::uint64_t unsettled(std::int64_t begin, std::int64_t rows, const std::int32_t* former) const {
    StoredBounds bounds = pruning_.of(begin);
    float upper[kTile], lower[kTile];
    if (rows < kTile) {
      std::fill(std::copy_n(bounds.upper, rows, upper), upper + kTile, 0.0f);
      std::fill(std::copy_n(bounds.lower, rows, lower), lower + kTile, 0.0f);
      bounds = {upper, lower};
    }
    return find_unsettled(set_, former, bounds, pruning_.travel()) & first_bits(rows);
  }

  void keep_bounds_of_tile(std::int64_t begin, std::int64_t rows, const TileLabels& nearest) const {
    const StoredBounds bounds = pruning_.of(begin);
    if (rows == kTile) {
      store_bounds(set_, nearest, nearest.undecided, pruning_.travel(), bounds);
      return;
    }
    float upper[kTile], lower[kTile];
    store_bounds(set_, nearest, nearest.undecided, pruning_.travel(), {upper, lower});
    std::copy_n(upper, rows, bounds.upper);
    std::copy_n(lower, rows, bounds.lower);
  }

  // The centroids of former labels are among the others now, of which `nearest` has one lower
  // bound.
  void bound_left_centroids(std::int64_t begin, std::int64_t rows, const std::int32_t* former,
                            const TileLabels& nearest) const {
    for (std::uint64_t left = (nearest.changed | nearest.undecided) & first_bits(rows); left != 0;
         left &= left - 1) {
      const int lane = std::countr_zero(left);
      const bool known = (nearest.undecided >> lane & 1) == 0;
      const std::int32_t slot = groups_.centroids().slots[former[lane]];
      group_bounds_.lower_to(begin + lane, slot, known ? nearest.bounds->lower[lane] : 0);
    }
  }

  void keep_bounds_of_rows(const std::int64_t* rows, std::int64_t count,
                           const TileLabels& nearest) const {
    float upper[kTile], lower[kTile];
    store_bounds(set_, nearest, nearest.undecided, pruning_.travel(), {upper, lower});
    for (std::int64_t lane = 0; lane < count; ++lane) {
      const StoredBounds bounds = pruning_.of(rows[lane]);
      *bounds.upper = upper[lane];
      *bounds.lower = lower[lane];
    }
  }

  // Measures the distance of up to a tile of samples to their own centroids; those that are not
  // settled by that either are scanned, or are loose.
  template <class Set>
  void settle_waiting(const std::int32_t* labels, Scratch<T>& scratch, const Set& set) const {
    const std::int64_t count = scratch.unsettled.count();
    const std::int64_t* rows = scratch.unsettled.first();
    double squared[kTile];
    measure_distances(set_, row(0), dataset_.stride, dataset_.features, rows, count, labels,
                      centroids_, squared);
    scratch.distances += count;
    const Travel longest = pruning_.travel().longest();
    for (std::int64_t i = 0; i < count; ++i) {
      const StoredBounds bounds = pruning_.of(rows[i]);
      const float upper = upper_bound(squared[i]);
      if (settles(upper, lower_now(*bounds.lower, longest))) {
        *bounds.upper = store_upper(upper, pruning_.travel().of(labels[rows[i]]));
      } else if (pruning_.scans()) {
        scan_row(rows[i], labels[rows[i]], squared[i], scratch, set);
      } else {
        scratch.loose.add(rows[i]);
      }
    }
    scratch.unsettled.drop(count);
  }

  template <class Set>
  void scan_row(std::int64_t i, std::int32_t own, double own_squared, Scratch<T>& scratch,
                const Set& set) const {
    const Scanned found = scan(set_, group_bounds_.of(), row(i), dataset_.features,
                               screens_.origin(), groups_.centroids(), own, own_squared,
                               group_bounds_.of_sample(i), scratch.scan_values());
    scratch.distances += found.distances;
    const StoredBounds bounds = pruning_.of(i);
    if (!found.proven) {
      forget(bounds);
      scratch.undecided.add(i);
      return;
    }
    *bounds.upper = store_upper(found.upper, pruning_.travel().of(found.label));
    *bounds.lower = store_lower(found.lower, pruning_.travel().longest());
    set(i, found.label);
  }

  template <class Set>
  void screen_loose(const std::int32_t* labels, Scratch<T>& scratch, const Set& set) const {
    // That to the own centroid is known.
    scratch.distances += scratch.loose.count() * (clusters_ - 1);
    screen_waiting(labels, scratch, scratch.loose,
                   screens_.screens_twice() ? scratch.unproven : scratch.undecided, set,
                   [&](auto&&... arguments) { screens_.screen(arguments...); });
  }
  template <class Set>
  void screen_unproven(const std::int32_t* labels, Scratch<T>& scratch, const Set& set) const {
    screen_waiting(labels, scratch, scratch.unproven, scratch.undecided, set,
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
    if (pruning_.keeps()) nearest.bounds = &bounds;
    screen(rows, count, former, scratch, nearest);
    if (pruning_.keeps()) keep_bounds_of_rows(rows, count, nearest);
    settle(
        nearest, count, [rows](int lane) { return rows[lane]; }, open, set);
    waiting.drop(count);
  }

  // The least label of each row that is proven goes to set(), the rows that are not to `open`.
  // row_of(lane) are the tile's rows.
  template <class RowOf, class Set>
  static void settle(const TileLabels& nearest, std::int64_t rows, const RowOf& row_of,
                     WaitingRows& open, const Set& set) {
    const std::uint64_t wanted = first_bits(rows);
    for (std::uint64_t left = nearest.undecided & wanted; left != 0; left &= left - 1) {
      open.add(row_of(std::countr_zero(left)));
    }
    for (std::uint64_t left = nearest.changed & ~nearest.undecided & wanted; left != 0;
         left &= left - 1) {
      const int lane = std::countr_zero(left);
      set(row_of(lane), nearest.labels[lane]);
    }
  }

  // Labels up to a tile of samples by the definition.
  template <class Set>
  void decide(Scratch<T>& scratch, const Set& set) const {
    const std::int64_t d = dataset_.features;
    TileRow<double>* const tile = scratch.exact_tile();
    const std::int64_t count = scratch.undecided.count();
    const std::int64_t* rows = scratch.undecided.first();
    gather_tile(row(0), dataset_.stride, rows, count, d, no_origin_.data(), tile);
    alignas(64) std::int32_t labels[kTile];
    define_nearest(set_, tile, count, d, centroids_, clusters_, labels);
    for (std::int64_t lane = 0; lane < count; ++lane) set(rows[lane], labels[lane]);
    scratch.decided += count;
    scratch.undecided.drop(count);
  }

  lloyd::DatasetView dataset_;
  InstructionSet set_;
  TileScreens<T> screens_;
  bool spatial_wanted_;
  bool fit_begins_ = false;
  SpatialScreen<T> spatial_;
  Pruning pruning_;
  CentroidGroups<T> groups_;
  GroupBoundsOfFit group_bounds_;
  std::vector<double> no_origin_;    // zeros
  std::vector<Scratch<T>> scratch_;  // one per thread
  std::int64_t clusters_ = 0;
  const double* centroids_ = nullptr;
};

}  // namespace lloyd_openmp
