// SpatialOrder: sorts samples so that the samples of a tile are neighbours.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

#include "common/tile.hpp"
#include "spatial/box_screen.hpp"

namespace lloyd_openmp {

/// A copy of a sample, with its row and former label.
template <class T, std::size_t D>
struct SortedSample {
  T x[D];
  std::int32_t label;  ///< former label; -1: none
  std::uint32_t row;   ///< of the data set
};

/// Equal intervals between two values. Values outside fall into the first or last interval.
template <class T>
class Bins {
 public:
  Bins() = default;
  Bins(double from, double to, std::uint32_t count)
      : low_(static_cast<T>(from)), last_(static_cast<T>(count - 1)) {
    const double scale = count / (to - from);
    // Otherwise all values are (nearly) equal and share bin 0.
    if (scale > 0 && scale < std::numeric_limits<T>::max()) scale_ = static_cast<T>(scale);
  }

  std::uint32_t of(T value) const {
    // NaN falls into the first bin.
    T bin = (value - low_) * scale_;
    bin = bin > 0 ? bin : 0;
    bin = bin < last_ ? bin : last_;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(bin));
  }

 private:
  T low_ = 0, scale_ = 0, last_ = 0;
};

/// The range of most values of a feature, without outliers: the mean plus or minus four standard
/// deviations.
struct CommonRange {
  explicit CommonRange(const lloyd::FeatureStatistics& feature) {
    const double width = 4 * std::sqrt(feature.variance);
    low = std::max(feature.minimum, feature.mean - width);
    high = std::min(feature.maximum, feature.mean + width);
  }
  double low, high;
};

/// Number of bins of sort_by_first_feature(); that many write positions stay in L1.
inline constexpr std::uint32_t kSortBins = 256;
/// Memory of sort_by_first_feature() per thread.
inline constexpr std::int64_t kSortBytes = kSortBins * 8;

/// Copies all samples in ascending order of the first feature, to the precision of kSortBins
/// intervals. `labels`: of all rows; null: none. `sorted`: n samples, output.
template <class T, std::size_t D>
void sort_by_first_feature(const lloyd::DatasetView& dataset, const std::int32_t* labels,
                           lloyd::ThreadTeam& team, SortedSample<T, D>* sorted) {
  constexpr std::uint32_t kBins = kSortBins;
  const CommonRange range(dataset.statistics[0]);
  const Bins<T> bins(range.low, range.high, kBins);
  const T* const data = static_cast<const T*>(dataset.data);
  const std::int64_t n = dataset.samples, stride = dataset.stride;
  const std::int64_t parts = team.threads();
  const auto first_row = [n, parts](std::int64_t part) { return n * part / parts; };
  // Counts per bin in the first loop, then the next position in `sorted`.
  using BinPositions = std::array<std::int64_t, kBins>;
  std::vector<BinPositions> positions(static_cast<std::size_t>(parts));
  // Parts are not bound to threads: a thread that starts late may get none.
  team.for_each(parts, parts, [&](int, std::int64_t part) {
    const lloyd::FloatEnvironment environment;  // for equal bins in both loops
    BinPositions& part_positions = positions[static_cast<std::size_t>(part)];
    part_positions = {};
    for (std::int64_t i = first_row(part); i < first_row(part + 1); ++i) {
      ++part_positions[bins.of(data[i * stride])];
    }
  });
  std::int64_t before = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    for (BinPositions& part_positions : positions)
      before += std::exchange(part_positions[bin], before);
  }
  team.for_each(parts, parts, [&](int, std::int64_t part) {
    const lloyd::FloatEnvironment environment;
    BinPositions& part_positions = positions[static_cast<std::size_t>(part)];
    for (std::int64_t i = first_row(part); i < first_row(part + 1); ++i) {
      // Value by value: copying a filled struct would reload it before its stores complete.
      const T* const x = data + i * stride;
      SortedSample<T, D>& to = sorted[part_positions[bins.of(x[0])]++];
      for (std::size_t j = 0; j < D; ++j) to.x[j] = x[j];
      to.label = labels != nullptr ? labels[i] : -1;
      to.row = static_cast<std::uint32_t>(i);
    }
  });
}

/// Sorts one part of the output of sort_by_first_feature(). Cuts it into slices of about equally
/// many samples along every feature but the last, so that tiles are about cubic, and walks each
/// slice along the last feature, alternately up and down. Source: S. T. Leutenegger, J. Edgington
/// and M. A. Lopez, "STR: a simple and efficient algorithm for R-tree packing", 1997; here with a
/// single counting sort.
///
/// T: type of the samples. Every thread needs its own object, which holds the working memory.
template <class T>
class SpatialOrder {
 public:
  /// Maximum number of samples of a part: its working memory stays in L2.
  static constexpr std::int64_t kMaxPartSamples = std::int64_t{1} << 15;

  /// Allocates for data sets of n samples.
  void reserve(std::int64_t n) {
    const auto samples = static_cast<std::size_t>(std::min(n, kMaxPartSamples));
    part_samples_.resize(samples * sizeof(SortedSample<T, kBoxFeatures>));
    keys_.resize(samples);
    positions_.resize(samples);
    next_positions_.resize(kMaxKeys + 1);
  }
  static std::int64_t bytes(std::int64_t n) {
    constexpr auto kEach = static_cast<std::int64_t>(sizeof(SortedSample<T, kBoxFeatures>) + 4);
    return std::min(n, kMaxPartSamples) * kEach + (kMaxKeys + 1) * 2;
  }

  /// Buffer for the samples of a part.
  template <std::size_t D>
  SortedSample<T, D>* part_buffer() {
    return reinterpret_cast<SortedSample<T, D>*>(part_samples_.data());
  }

  /// Returns, for each of `count` samples, its position in the sorted part (from 0). The array
  /// stays valid until the next call.
  template <std::size_t D>
  const std::uint16_t* sort(const lloyd::DatasetView& dataset, const SortedSample<T, D>* samples,
                            std::int64_t count) {
    const double all_tiles = static_cast<double>(dataset.samples) / kTile;
    const double tiles = static_cast<double>(count) / kTile;
    // The part covers a fraction tiles / all_tiles of the first feature, and gets that fraction of
    // its slices.
    const double tiles_per_side = std::pow(all_tiles, 1 / static_cast<double>(D));
    const double first_slices = std::max(1.0, std::ceil(tiles_per_side * tiles / all_tiles));
    const double other_slices =
        D < 3 ? 1 : std::ceil(std::pow(tiles / first_slices, 1 / (D - 1.0)));
    // A cell is a combination of slices, one per feature but the last; a key is a cell and a bin of
    // the last feature.
    std::uint32_t cells = 1;
    std::array<Bins<T>, D> bins;
    std::array<std::uint32_t, D> slices;
    for (std::size_t j = 0; j + 1 < D; ++j) {
      slices[j] = static_cast<std::uint32_t>(j == 0 ? first_slices : other_slices);
      bins[j] = bins_of(dataset.statistics[j], samples, count, j, kSliceBins);
      assign_slices(samples, count, j, bins[j], slices[j], slices_[j]);
      cells *= slices[j];
    }
    // At least four samples per key on average, so that the counters stay in L1.
    const auto bins_per_cell =
        std::max<std::uint32_t>(2, std::bit_floor(static_cast<std::uint32_t>(count) / (4 * cells)));
    bins.back() = bins_of(dataset.statistics[D - 1], samples, count, D - 1, bins_per_cell);

    std::fill_n(next_positions_.begin(), cells * bins_per_cell + 1, std::uint16_t{0});
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const T* const x = samples[i].x;
      std::uint32_t cell = 0;
      for (std::size_t j = 0; j + 1 < D; ++j) {
        cell = cell * slices[j] + slices_[j][bins[j].of(x[j])];
      }
      // Reverses every second cell without a branch: `bins_per_cell` is a power of two.
      const std::uint32_t bin = bins.back().of(x[D - 1]) ^ (cell % 2 * (bins_per_cell - 1));
      const std::uint32_t key = cell * bins_per_cell + bin;
      keys_[i] = static_cast<std::uint16_t>(key);
      ++next_positions_[key + 1];
    }
    for (std::uint32_t key = 1; key < cells * bins_per_cell; ++key) {
      next_positions_[key] =
          static_cast<std::uint16_t>(next_positions_[key] + next_positions_[key - 1]);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      positions_[i] = next_positions_[keys_[i]]++;
    }
    return positions_.data();
  }

 private:
  static constexpr std::uint32_t kMaxKeys = kMaxPartSamples;
  static constexpr std::uint32_t kSliceBins = 1024;
  static constexpr std::int64_t kProbes = 2048;  // number of samples that represent a part

  using SliceOfBin = std::array<std::uint16_t, kSliceBins>;

  // Calls visit(i) for about kProbes evenly spaced samples and returns their number.
  template <class Visit>
  static std::int64_t visit_probes(std::int64_t count, const Visit& visit) {
    const std::int64_t step = std::max<std::int64_t>(1, count / kProbes);
    std::int64_t probes = 0;
    for (std::int64_t i = 0; i < count; i += step, ++probes) visit(i);
    return probes;
  }

  // Bins over the common range of feature j in a part.
  template <std::size_t D>
  static Bins<T> bins_of(const lloyd::FeatureStatistics& feature, const SortedSample<T, D>* samples,
                         std::int64_t count, std::size_t j, std::uint32_t bins) {
    T lowest = samples[0].x[j], highest = lowest;
    visit_probes(count, [&](std::int64_t i) {
      lowest = std::min(lowest, samples[i].x[j]);
      highest = std::max(highest, samples[i].x[j]);
    });
    const CommonRange range(feature);
    return {std::max(range.low, static_cast<double>(lowest)),
            std::min(range.high, static_cast<double>(highest)), bins};
  }

  // Assigns each bin of feature j to a slice, so that slices have about equally many samples.
  template <std::size_t D>
  static void assign_slices(const SortedSample<T, D>* samples, std::int64_t count, std::size_t j,
                            const Bins<T>& bins, std::uint32_t slices, SliceOfBin& slice_of) {
    std::array<std::int64_t, kSliceBins> found{};
    const std::int64_t probes =
        visit_probes(count, [&](std::int64_t i) { ++found[bins.of(samples[i].x[j])]; });
    std::int64_t below = 0;
    for (std::size_t bin = 0; bin < found.size(); ++bin) {
      slice_of[bin] =
          static_cast<std::uint16_t>((2 * below + found[bin]) * slices / (2 * probes + 1));
      below += found[bin];
    }
  }

  std::vector<std::byte> part_samples_;
  std::vector<std::uint16_t> keys_, positions_;
  std::vector<std::uint16_t> next_positions_;  // next position for each key
  std::array<SliceOfBin, kBoxFeatures> slices_;
};

}  // namespace lloyd_openmp
