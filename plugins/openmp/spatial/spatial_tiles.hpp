// SpatialTiles: the samples of a data set in tiles of spatial neighbours, with bounding boxes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/types.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

#include "common/instruction_set.hpp"
#include "common/large_pages.hpp"
#include "common/tile.hpp"
#include "spatial/box_screen.hpp"
#include "spatial/spatial_order.hpp"

namespace lloyd_openmp {

/// Up to kTile samples that are spatial neighbours.
template <class T>
struct SpatialTile {
  static constexpr std::int32_t kMixed = -1;

  Box<T> box;
  std::int32_t count;  ///< number of samples
  std::int32_t label;  ///< common label; kMixed: see SpatialTiles::labels()
  /// Bit i: the tile has no current label of sample i; read it from the label array.
  std::uint64_t unknown_mask;
};

/// Positions in spatial order replace rows: tile t holds positions [t kTile, (t + 1) kTile). Tiles
/// are built in parts, each by the first thread that uses it. T: type of the samples.
template <class T>
class SpatialTiles {
 public:
  static constexpr std::int64_t kGroupTiles = BoxGroup<T>::kBoxes;
  /// Parts begin at multiples of this.
  static constexpr std::int64_t kGroupSamples = kGroupTiles * kTile;

  /// Bytes for n samples of d features; 0: not supported.
  static std::int64_t bytes(std::int64_t n, std::int64_t d) {
    if (d > kBoxFeatures) return 0;
    constexpr std::int64_t kMaxBytes = std::int64_t{1} << 28;
    const std::int64_t tiles = count(n) * static_cast<std::int64_t>(sizeof(SpatialTile<T>));
    const auto group_bytes = static_cast<std::int64_t>(sizeof(BoxGroup<T>) + sizeof(Part));
    const std::int64_t bytes = page_rounded_bytes(count(n) * tile_bytes(d)) +
                               page_rounded_bytes(tiles) +
                               page_rounded_bytes(groups(n) * group_bytes);
    return bytes <= kMaxBytes ? bytes : 0;
  }

  /// Sorts the samples roughly; build() makes the tiles later. `labels`: of all rows; null: none.
  /// Throws std::bad_alloc.
  void presort(const lloyd::DatasetView& dataset, const std::int32_t* labels,
               lloyd::ThreadTeam& team) {
    const auto tiles = index(count(dataset.samples));
    features_ = dataset.features;
    samples_ = large_array<std::byte>(tiles * index(tile_bytes(features_)));
    tiles_ = large_array<SpatialTile<T>>(tiles);
    groups_ = large_array<BoxGroup<T>>(index(groups(dataset.samples)));
    auto parts = std::make_unique<Part[]>(index(groups(dataset.samples)));
    with_features(
        [&](auto d) { sort_by_first_feature<T, d>(dataset, labels, team, sorted<d>(0)); });
    parts_ = std::move(parts);  // marks success: nothing threw
  }
  bool presorted() const { return parts_ != nullptr; }

  /// State of a part: the number of its positions whose tiles are built, and the number of the last
  /// pass that labelled them, which the caller sets. part(begin): the part that begins at position
  /// `begin`, a multiple of kGroupSamples.
  struct Part {
    std::int64_t positions = 0;
    std::int64_t pass = 0;
  };
  Part& part(std::int64_t begin) { return parts_[index(begin / kGroupSamples)]; }

  SpatialTile<T>& tile(std::int64_t t) { return tiles_[index(t)]; }
  /// The samples of a tile: d vectors. Unused lanes repeat the last sample.
  TileVector<T>* values(std::int64_t t) {
    return reinterpret_cast<TileVector<T>*>(samples_.get() + t * tile_bytes(features_));
  }
  /// kTile labels of a tile.
  std::int32_t* labels(std::int64_t t) {
    return reinterpret_cast<std::int32_t*>(values(t) + features_);
  }
  /// kTile row numbers of a tile.
  std::uint32_t* rows(std::int64_t t) {
    return reinterpret_cast<std::uint32_t*>(labels(t) + kTile);
  }
  /// Group g: tiles g * kGroupTiles to (g + 1) * kGroupTiles - 1, as far as they exist.
  const BoxGroup<T>& group(std::int64_t g) const { return groups_[index(g)]; }

  /// Builds the tiles of at most SpatialOrder<T>::kMaxPartSamples positions. `origin`: d values.
  void build(InstructionSet set, const lloyd::DatasetView& dataset, lloyd::RowRange positions,
             const T* origin, SpatialOrder<T>& order) {
    with_features([&](auto d) { sort_part<d>(dataset, positions, order); });
    const std::int64_t first = positions.begin / kTile, last = count(positions.end);
    Extent group_extent;
    for (std::int64_t t = first; t < last; ++t) {
      SpatialTile<T>& tile = this->tile(t);
      tile.count = static_cast<std::int32_t>(std::min(kTile, positions.end - t * kTile));
      tile.label = SpatialTile<T>::kMixed;
      tile.unknown_mask = 0;
      Extent extent;
      find_extent(set, values(t), features_, extent.low, extent.high);
      extent.subtract(origin, features_);
      tile.box = extent.box(features_);
      BoxGroup<T>& group = groups_[index(t / kGroupTiles)];
      if (t % kGroupTiles == 0) {
        group_extent = {};
        group = {};
      }
      group.set(t % kGroupTiles, tile.box);
      group_extent.add(extent, features_);
      group.all = group_extent.box(features_);
    }
    part(positions.begin).positions = positions.size();
  }

 private:
  // Moves the samples of a part to their positions.
  template <std::size_t D>
  void sort_part(const lloyd::DatasetView& dataset, lloyd::RowRange positions,
                 SpatialOrder<T>& order) {
    // A tile has exactly the size of its SortedSamples, whose memory it replaces.
    static_assert(sizeof(SortedSample<T, D>) == D * sizeof(T) + 8);
    const std::int64_t samples = positions.size();
    SortedSample<T, D>* const sorted = order.template part_buffer<D>();
    std::copy_n(this->sorted<D>(positions.begin), samples, sorted);
    const std::uint16_t* const position_of = order.sort(dataset, sorted, samples);
    const std::int64_t first = positions.begin / kTile;
    const auto put = [&](std::int64_t position, const SortedSample<T, D>& sample) {
      const std::int64_t t = first + position / kTile, lane = position % kTile;
      TileVector<T>* const tile = values(t);
      for (std::size_t j = 0; j < D; ++j) tile[j].lanes[lane] = sample.x[j];
      labels(t)[lane] = sample.label;
      rows(t)[lane] = sample.row;
    };
    std::int64_t last_sample = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      put(position_of[i], sorted[i]);
      if (position_of[i] == samples - 1) last_sample = i;
    }
    const std::int64_t end = (count(positions.end) - first) * kTile;
    for (std::int64_t position = samples; position < end; ++position)
      put(position, sorted[last_sample]);
  }

  // The range of each feature.
  struct Extent {
    void add(const Extent& other, std::int64_t d) {
      for (std::int64_t j = 0; j < d; ++j) {
        low[j] = std::min(low[j], other.low[j]);
        high[j] = std::max(high[j], other.high[j]);
      }
    }

    // With the same rounding as for each sample.
    void subtract(const T* origin, std::int64_t d) {
      for (std::int64_t j = 0; j < d; ++j) {
        low[j] -= origin[j];
        high[j] -= origin[j];
      }
    }

    Box<T> box(std::int64_t d) const {
      // Covers the roundings below.
      constexpr T kRoundUp = 1 + 8 * std::numeric_limits<T>::epsilon();
      Box<T> box{};
      double center = 0, half = 0;
      for (std::int64_t j = 0; j < d; ++j) {
        box.center[j] = (low[j] + high[j]) / 2;
        box.half_width[j] = std::max(high[j] - box.center[j], box.center[j] - low[j]) * kRoundUp;
        center += double{box.center[j]} * double{box.center[j]};
        half += double{box.half_width[j]} * double{box.half_width[j]};
      }
      box.radius = static_cast<T>(std::sqrt(center) + std::sqrt(half)) * kRoundUp;
      return box;
    }

    static constexpr T kInfinity = std::numeric_limits<T>::infinity();
    T low[kBoxFeatures] = {kInfinity, kInfinity, kInfinity};
    T high[kBoxFeatures] = {-kInfinity, -kInfinity, -kInfinity};
  };

  // Calls body(d) with the number of features as a compile-time constant.
  template <class Body>
  void with_features(const Body& body) const {
    static_assert(kBoxFeatures == 3);
    if (features_ == 1) {
      body(std::integral_constant<std::size_t, 1>());
    } else if (features_ == 2) {
      body(std::integral_constant<std::size_t, 2>());
    } else {
      body(std::integral_constant<std::size_t, 3>());
    }
  }

  // The samples of a part before its tiles are built, in the same memory.
  template <std::size_t D>
  SortedSample<T, D>* sorted(std::int64_t position) {
    return reinterpret_cast<SortedSample<T, D>*>(samples_.get()) + position;
  }

  static std::int64_t tile_bytes(std::int64_t d) {
    return kTile * (d * static_cast<std::int64_t>(sizeof(T)) + 8);
  }
  static std::int64_t count(std::int64_t n) { return (n + kTile - 1) / kTile; }
  static std::int64_t groups(std::int64_t n) { return (n + kGroupSamples - 1) / kGroupSamples; }
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::int64_t features_ = 0;
  LargeArray<std::byte> samples_;  // values, labels and row numbers of the tiles
  LargeArray<SpatialTile<T>> tiles_;
  LargeArray<BoxGroup<T>> groups_;
  std::unique_ptr<Part[]> parts_;  // indexed by the first group of a part
};

}  // namespace lloyd_openmp
