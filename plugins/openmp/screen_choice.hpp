// Which screen is fastest for a shape: NOTES.md has the measurements.
#pragma once

#include <cstdint>

namespace lloyd_openmp {

enum class ScreenKind {
  tiles,     ///< screen_tile(): products in the type of the samples
  rows,      ///< screen_rows()
  integers,  ///< screen_integers(), and what it leaves open by rows or tiles
};

/// For k centroids of d features in float32; `kept`: samples are at hand in integers.
constexpr ScreenKind fastest_screen(std::int64_t k, std::int64_t d, [[maybe_unused]] bool kept) {
#if defined(__x86_64__)  // elsewhere products of 16 bits come without a sum
  if (kept && d > 8 && k >= (d < 128 ? 8 : 4)) return ScreenKind::integers;
#endif
  if (d >= 128 && k <= (d < 256 ? 10 : 20)) return ScreenKind::rows;
#if defined(__x86_64__)
  if (k >= 32 && d >= 32) return ScreenKind::integers;
  const bool in_registers = d <= 4 && k <= 64;  // scores have score_marks there
  if (k >= 64 && !in_registers) return ScreenKind::integers;
#endif
  return ScreenKind::tiles;
}

/// For what integers leave open: samples here and there, which tiles would have to be made of.
constexpr ScreenKind fastest_for_some(std::int64_t k, std::int64_t d) {
  return d >= 128 && k <= 32 ? ScreenKind::rows : ScreenKind::tiles;
}

}  // namespace lloyd_openmp
