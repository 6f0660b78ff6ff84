// SpatialOrder: puts samples in an order in which those of a tile lie near each other.
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

#include <lloyd/plugin/dataset_view.hpp>
#include <lloyd/plugin/float_environment.hpp>

#include "box_screen.hpp"
#include "tile.hpp"

namespace lloyd_openmp {

/// A sample and where it is from.
template <class T, std::size_t D>
struct SortedSample {
  T x[D];
  std::int32_t label;  ///< its former one; -1: it had none
  std::uint32_t row;   ///< of the data set
};

/// Intervals of equal length between two values; what is outside is in the first or the last one.
template <class T>
class Bins {
 public:
  Bins() = default;
  Bins(double from, double to, std::uint32_t count)
      : low_(static_cast<T>(from)), last_(static_cast<T>(count - 1)) {
    const double scale = count / (to - from);
    // Otherwise all are alike, or nearly.
    if (scale > 0 && scale < std::numeric_limits<T>::max()) scale_ = static_cast<T>(scale);
  }

  std::uint32_t of(T value) const {
    // What is no number is in the first one.
    T bin = (value - low_) * scale_;
    bin = bin > 0 ? bin : 0;
    bin = bin < last_ ? bin : last_;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(bin));
  }

 private:
  T low_ = 0, scale_ = 0, last_ = 0;
};

/// Where most values of a feature are: few may lie far from the others.
struct CommonRange {
  explicit CommonRange(const lloyd::FeatureStatistics& feature) {
    const double width = 4 * std::sqrt(feature.variance);
    low = std::max(feature.minimum, feature.mean - width);
    high = std::min(feature.maximum, feature.mean + width);
  }
  double low, high;
};

/// Where the next sample of each goes stays in the first cache.
inline constexpr std::uint32_t kSortBins = 256;
/// That sort_by_first_feature() takes for itself, for each thread.
inline constexpr std::int64_t kSortBytes = kSortBins * 8;

/// Copies all samples in ascending order of the first feature, as far as kSortBins intervals of it
/// tell them apart. `labels`: of all rows, or null where they have none; `sorted`: room for n
/// samples.
template <class T, std::size_t D>
void sort_by_first_feature(const lloyd::DatasetView& dataset, const std::int32_t* labels,
                           int threads, SortedSample<T, D>* sorted) {
  constexpr std::uint32_t kBins = kSortBins;
  const CommonRange range(dataset.statistics[0]);
  const Bins<T> bins(range.low, range.high, kBins);
  const T* const data = static_cast<const T*>(dataset.data);
  const std::int64_t n = dataset.samples, stride = dataset.stride;
  const auto first_of = [n, threads](std::int64_t part) { return n * part / threads; };
  using Ends = std::array<std::int64_t, kBins>;
  std::vector<Ends> ends(static_cast<std::size_t>(threads));
  // Parts, not threads: there may be fewer of these than were asked for.
#ifdef _OPENMP  // tests of tiles have no threads
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
  for (std::int64_t part = 0; part < threads; ++part) {
    const lloyd::FloatEnvironment environment;  // both times the same bins
    Ends& of_part = ends[static_cast<std::size_t>(part)];
    of_part = {};
    for (std::int64_t i = first_of(part); i < first_of(part + 1); ++i) {
      ++of_part[bins.of(data[i * stride])];
    }
  }
  std::int64_t before = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    for (Ends& of_part : ends) before += std::exchange(of_part[bin], before);
  }
#ifdef _OPENMP  // tests of tiles have no threads
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
  for (std::int64_t part = 0; part < threads; ++part) {
    const lloyd::FloatEnvironment environment;
    Ends& of_part = ends[static_cast<std::size_t>(part)];
    for (std::int64_t i = first_of(part); i < first_of(part + 1); ++i) {
      // Value by value: a whole sample would be read back before it has been written.
      const T* const x = data + i * stride;
      SortedSample<T, D>& to = sorted[of_part[bins.of(x[0])]++];
      for (std::size_t j = 0; j < D; ++j) to.x[j] = x[j];
      to.label = labels != nullptr ? labels[i] : -1;
      to.row = static_cast<std::uint32_t>(i);
    }
  }
}

/// Orders a part of what sort_by_first_feature() made: cuts it into slices of about equally many
/// samples bins_along each feature but the last, so that tiles have equal sides, and goes through
/// each bins_along the last feature, there and back. After S. T. Leutenegger, J. Edgington and M.
/// A. Lopez, "STR: a simple and efficient algorithm for R-tree packing", 1997, by one counting
/// sort.
///
/// T: type of the samples. One for each thread: it has room for what it works with.
template <class T>
class SpatialOrder {
 public:
  /// Samples of a part: what is made of them stays in the second cache.
  static constexpr std::int64_t kMaxPartSamples = std::int64_t{1} << 15;

  /// For n samples in all.
  void reserve(std::int64_t n) {
    const auto samples = static_cast<std::size_t>(std::min(n, kMaxPartSamples));
    part_samples_.resize(samples * sizeof(SortedSample<T, kBoxFeatures>));
    keys_.resize(samples);
    positions_.resize(samples);
    ends_.resize(kMaxKeys + 1);
  }
  static std::int64_t bytes(std::int64_t n) {
    constexpr auto kEach = static_cast<std::int64_t>(sizeof(SortedSample<T, kBoxFeatures>) + 4);
    return std::min(n, kMaxPartSamples) * kEach + (kMaxKeys + 1) * 2;
  }

  /// For the samples of a part.
  template <std::size_t D>
  SortedSample<T, D>* room() {
    return reinterpret_cast<SortedSample<T, D>*>(part_samples_.data());
  }

  /// The position in the order, from 0 on, of each of `count` samples.
  template <std::size_t D>
  const std::uint16_t* make(const lloyd::DatasetView& dataset, const SortedSample<T, D>* samples,
                            std::int64_t count) {
    const double all_tiles = static_cast<double>(dataset.samples) / kTile;
    const double tiles = static_cast<double>(count) / kTile;
    // Along the first feature a part is a slice itself.
    const double sides = std::pow(all_tiles, 1 / static_cast<double>(D));
    const double first = std::max(1.0, std::ceil(sides * tiles / all_tiles));
    const double others = D < 3 ? 1 : std::ceil(std::pow(tiles / first, 1 / (D - 1.0)));
    std::uint32_t cells = 1;
    std::array<Bins<T>, D> bins;
    std::array<std::uint32_t, D> slices;
    for (std::size_t j = 0; j + 1 < D; ++j) {
      slices[j] = static_cast<std::uint32_t>(j == 0 ? first : others);
      bins[j] = bins_of(dataset.statistics[j], samples, count, j, kSliceBins);
      cut(samples, count, j, bins[j], slices[j], slices_[j]);
      cells *= slices[j];
    }
    // More than one sample for each key, so that these stay in the first cache.
    const auto bins_along =
        std::max<std::uint32_t>(2, std::bit_floor(static_cast<std::uint32_t>(count) / (4 * cells)));
    bins.back() = bins_of(dataset.statistics[D - 1], samples, count, D - 1, bins_along);

    std::fill_n(ends_.begin(), cells * bins_along + 1, std::uint16_t{0});
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const T* const x = samples[i].x;
      std::uint32_t cell = 0;
      for (std::size_t j = 0; j + 1 < D; ++j) {
        cell = cell * slices[j] + slices_[j][bins[j].of(x[j])];
      }
      // Each second cell from its end, without a branch: `bins_along` is a power of two.
      const std::uint32_t bin = bins.back().of(x[D - 1]) ^ (cell % 2 * (bins_along - 1));
      const std::uint32_t key = cell * bins_along + bin;
      keys_[i] = static_cast<std::uint16_t>(key);
      ++ends_[key + 1];
    }
    for (std::uint32_t key = 1; key < cells * bins_along; ++key) {
      ends_[key] = static_cast<std::uint16_t>(ends_[key] + ends_[key - 1]);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      positions_[i] = ends_[keys_[i]]++;
    }
    return positions_.data();
  }

 private:
  static constexpr std::uint32_t kMaxKeys = kMaxPartSamples;
  static constexpr std::uint32_t kSliceBins = 1024;
  static constexpr std::int64_t kProbes = 2048;  // samples that stand for all

  using SliceOfBin = std::array<std::uint16_t, kSliceBins>;

  template <class Look>
  static std::int64_t probe(std::int64_t count, const Look& visit) {
    const std::int64_t step = std::max<std::int64_t>(1, count / kProbes);
    std::int64_t probes = 0;
    for (std::int64_t i = 0; i < count; i += step, ++probes) visit(i);
    return probes;
  }

  template <std::size_t D>
  static Bins<T> bins_of(const lloyd::FeatureStatistics& feature, const SortedSample<T, D>* samples,
                         std::int64_t count, std::size_t j, std::uint32_t bins) {
    T least = samples[0].x[j], most = least;
    probe(count, [&](std::int64_t i) {
      least = std::min(least, samples[i].x[j]);
      most = std::max(most, samples[i].x[j]);
    });
    const CommonRange range(feature);
    return {std::max(range.low, static_cast<double>(least)),
            std::min(range.high, static_cast<double>(most)), bins};
  }

  template <std::size_t D>
  static void cut(const SortedSample<T, D>* samples, std::int64_t count, std::size_t j,
                  const Bins<T>& bins, std::uint32_t slices, SliceOfBin& slice_of) {
    std::array<std::int64_t, kSliceBins> found{};
    const std::int64_t probes =
        probe(count, [&](std::int64_t i) { ++found[bins.of(samples[i].x[j])]; });
    std::int64_t below = 0;
    for (std::size_t bin = 0; bin < found.size(); ++bin) {
      slice_of[bin] =
          static_cast<std::uint16_t>((2 * below + found[bin]) * slices / (2 * probes + 1));
      below += found[bin];
    }
  }

  std::vector<std::byte> part_samples_;
  std::vector<std::uint16_t> keys_, positions_;
  std::vector<std::uint16_t> ends_;  // of each key, the next position
  std::array<SliceOfBin, kBoxFeatures> slices_;
};

}  // namespace lloyd_openmp
