// DatasetScreen: screens tiles of a data set with the fastest screen for its shape.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "common/instruction_set.hpp"
#include "common/tile.hpp"
#include "screens/float_screen.hpp"
#include "screens/integer_rounding.hpp"
#include "screens/integer_screen.hpp"
#include "screens/integer_tiles.hpp"
#include "screens/row_screen.hpp"
#include "screens/score_screen.hpp"
#include "screens/screen_choice.hpp"
#include "screens/screen_scratch.hpp"

namespace lloyd_openmp {

/// T: type of the samples.
template <class T>
class DatasetScreen {
 public:
  /// The data that `dataset` refers to must outlive it.
  DatasetScreen(const lloyd::DatasetView& dataset, InstructionSet set)
      : dataset_(dataset), rows_end_(dataset.samples), set_(set), scores_(dataset) {}

  static std::int64_t bytes(std::int64_t n, std::int64_t k, std::int64_t d) {
    const std::int64_t stored = IntegerTiles::bytes(n, k, d);
    const ScreenKind kind = fastest(k, d, stored > 0);
    if (kind != ScreenKind::integers) return ScoreScreen<T>::bytes(k, d, kind == ScreenKind::rows);
    // Either layout may be needed if k changes within a session.
    return IntegerScreen::bytes(k, d) + stored +
           std::max(ScoreScreen<T>::bytes(k, d, true), ScoreScreen<T>::bytes(k, d, false));
  }

  /// From now on row i is at `data` + i * stride for the rows of `window`.
  void use_samples(const void* data, lloyd::RowRange window) {
    dataset_.data = data;
    rows_end_ = window.end;
  }

  /// Allows storing rounded samples, because passes over the same samples will follow.
  void store_samples(bool wanted) { stores_ = wanted; }

  /// `centroids`: k x d.
  void set_centroids(const double* centroids, std::int64_t k) {
    const std::int64_t d = dataset_.features;
    const bool stores =
        (stores_ || stored_.has_storage()) && IntegerTiles::bytes(dataset_.samples, k, d) > 0;
    kind_ = fastest(k, d, stores);
    second_kind_ = second_kind(kind_, k, d);
    scores_.set_centroids(centroids, k,
                          second_kind_ == ScreenKind::rows ? row_chain_length(set_, d) : 0);
    if constexpr (kIsFloat32) {
      if (stores_ && kind_ != ScreenKind::integers) stored_ = {};  // left by a fit with another k
      if (kind_ != ScreenKind::integers || !scores_.can_screen()) return;
      integers_.set_centroids(set_, centroids, k, d, scores_.origin(), scores_.radius());
      if (!integers_.can_screen()) {
        kind_ = second_kind_;  // rare, so the second screen is good enough
      } else if (stores && !stored_.has_storage()) {
        try {
          stored_.reserve(dataset_.samples, d);
        } catch (const std::bad_alloc&) {
          kind_ = second_kind_;  // needs no further memory
        }
      }
    }
  }

  /// True if the current centroids can be screened. If not, neither the screens nor the limits may
  /// be used in this pass.
  bool can_screen() const { return scores_.can_screen(); }
  const T* origin() const { return scores_.origin(); }
  /// The limit for scores of scan_sample().
  const ScoreLimit<T>& scan_limit() const { return scores_.tile_limit(); }
  /// The limit for scores without indices in their low bits.
  const ScoreLimit<T>& unmarked_limit() const { return scores_.unmarked_limit(); }
  /// True if whole tiles are screened as stored integers.
  bool uses_stored_tiles() const { return kind_ == ScreenKind::integers && stored_.has_storage(); }
  /// True if rows that screen() leaves open are worth screening by screen_again().
  bool screens_twice() const { return kind_ == ScreenKind::integers; }

  /// Screens `rows` (1 to kTile) samples from row `begin` on. `former`: kTile labels.
  void screen(std::int64_t begin, std::int64_t rows, const std::int32_t* former,
              ScreenScratch<T>& scratch, TileLabels& nearest) const {
    if constexpr (kIsFloat32) {
      if (kind_ == ScreenKind::rows) {
        const T* samples[kTile + kInterleavedRows];
        for (std::int64_t lane = 0; lane < kTile + kInterleavedRows; ++lane) {
          // Lanes beyond the tile are only prefetched.
          samples[lane] = row(lane < kTile ? begin + std::min(lane, rows - 1)
                                           : std::min(interleaved_row(begin, lane), rows_end_ - 1));
        }
        screen_rows(set_, samples, dataset_.features, scores_.row_centroids(), former, nearest);
        return;
      }
    }
    const auto load = [&] {
      load_tile(set_, row(begin), dataset_.stride, rows, dataset_.features, scores_.origin(),
                scratch.tile());
    };
    if constexpr (kIsFloat32) {
      if (kind_ == ScreenKind::integers) {
        const auto round = [&](double radius, IntegerTile& tile) {
          const float* samples[kTile];
          for (std::int64_t lane = 0; lane < kTile; ++lane) {
            samples[lane] = row(begin + std::min(lane, rows - 1));
          }
          this->round(samples, load, radius, scratch, tile);
        };
        const bool whole =
            begin % kTile == 0 && begin + rows == std::min(begin + kTile, dataset_.samples);
        if (stored_.has_storage() && whole) {
          const double radius = integers_.centroids().radius;
          screen_rounded(stored_.get(begin / kTile, radius, round), former, scratch, nearest);
        } else {
          screen_rounded_now(round, former, scratch, nearest);
        }
        return;
      }
    }
    load();
    screen_tile(set_, scratch.tile(), rows, dataset_.features, scores_.centroids(), former,
                nearest);
  }

  /// Screens `count` (1 to kTile) samples, given their row numbers.
  void screen(const std::int64_t* rows, std::int64_t count, const std::int32_t* former,
              ScreenScratch<T>& scratch, TileLabels& nearest) const {
    if constexpr (kIsFloat32) {
      if (kind_ == ScreenKind::integers) {
        const auto round = [&](double radius, IntegerTile& tile) {
          const float* samples[kTile];
          for (std::int64_t lane = 0; lane < kTile; ++lane) {
            samples[lane] = row(rows[lane < count ? lane : 0]);
          }
          this->round(
              samples, [&] { gather(rows, count, scratch); }, radius, scratch, tile);
        };
        screen_rounded_now(round, former, scratch, nearest);
        return;
      }
    }
    screen_again(rows, count, former, scratch, nearest);
  }

  /// Screens rows that integers left open, in floating point.
  void screen_again(const std::int64_t* rows, std::int64_t count, const std::int32_t* former,
                    ScreenScratch<T>& scratch, TileLabels& nearest) const {
    if constexpr (kIsFloat32) {
      if (second_kind_ == ScreenKind::rows) {
        const T* samples[kTile + kInterleavedRows];
        for (std::int64_t lane = 0; lane < kTile + kInterleavedRows; ++lane) {
          samples[lane] = row(rows[lane < count ? lane : 0]);
        }
        screen_rows(set_, samples, dataset_.features, scores_.row_centroids(), former, nearest);
        return;
      }
    }
    gather(rows, count, scratch);
    screen_tile(set_, scratch.tile(), count, dataset_.features, scores_.centroids(), former,
                nearest);
  }

 private:
  static constexpr bool kIsFloat32 = std::is_same_v<T, float>;

  static ScreenKind fastest(std::int64_t k, std::int64_t d, bool stored) {
    return kIsFloat32 ? fastest_screen(k, d, stored) : ScreenKind::tiles;
  }

  // The screen for samples that `kind` leaves open; `kind` itself if there is none.
  static ScreenKind second_kind(ScreenKind kind, std::int64_t k, std::int64_t d) {
    return kind == ScreenKind::integers ? fastest_for_gathered(k, d) : kind;
  }

  const T* row(std::int64_t i) const {
    return static_cast<const T*>(dataset_.data) + i * dataset_.stride;
  }

  // Lanes beyond `count` repeat the first sample, because all lanes determine the unit of rounding.
  void gather(const std::int64_t* rows, std::int64_t count, ScreenScratch<T>& scratch) const {
    TileVector<T>* const tile = scratch.tile();
    gather_tile(row(0), dataset_.stride, rows, count, dataset_.features, scores_.origin(), tile);
    for (std::int64_t j = 0; j < dataset_.features; ++j) {
      std::fill(tile[j].lanes + count, tile[j].lanes + kTile, tile[j].lanes[0]);
    }
  }

  // Rounds kTile samples. load() builds their float tile in `scratch` if that is needed.
  template <class Load>
  void round(const float* const* samples, const Load& load, double radius,
             ScreenScratch<T>& scratch, IntegerTile& tile) const {
    if (can_round_rows(set_, dataset_.features)) {
      round_rows(set_, samples, dataset_.features, scores_.origin(), radius, tile);
    } else {
      load();
      round_tile(set_, scratch.tile(), dataset_.features, radius, tile);
    }
  }

  // Screens samples that are not stored.
  template <class Round>
  void screen_rounded_now(const Round& round, const std::int32_t* former, ScreenScratch<T>& scratch,
                          TileLabels& nearest) const {
    IntegerTile tile = scratch.integer_tile();
    round(integers_.centroids().radius, tile);
    screen_rounded(tile, former, scratch, nearest);
  }

  void screen_rounded(const IntegerTile& tile, const std::int32_t* former,
                      ScreenScratch<T>& scratch, TileLabels& nearest) const {
    screen_integers(set_, tile, dataset_.features, integers_.centroids(), former,
                    scratch.integer_offsets(), nearest);
  }

  lloyd::DatasetView dataset_;
  std::int64_t rows_end_;  // one past the last row that can be read
  InstructionSet set_;
  ScoreScreen<T> scores_;
  IntegerScreen integers_;
  IntegerTiles stored_;
  bool stores_ = false;
  ScreenKind kind_ = ScreenKind::tiles;         // for all samples
  ScreenKind second_kind_ = ScreenKind::tiles;  // for samples that integers leave open
};

}  // namespace lloyd_openmp
