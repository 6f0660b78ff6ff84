// Chooses the fastest screen for a shape. Measurements: docs/design/openmp/screens.md.
#pragma once

#include <cstdint>

namespace lloyd_openmp {

enum class ScreenKind {
  tiles,     ///< screen_tile(), in the type of the samples
  rows,      ///< screen_rows()
  integers,  ///< screen_integers(); open samples go to one of the others
};

/// For k centroids of d float32 features. `stored`: rounded samples are stored across passes.
constexpr ScreenKind fastest_screen(std::int64_t k, std::int64_t d, [[maybe_unused]] bool stored) {
#if defined(__x86_64__)  // elsewhere the integer screen has no fast dot product
  if (stored && d > 8 && k >= (d < 128 ? 8 : 4)) return ScreenKind::integers;
#endif
  if (d >= 128 && k <= (d < 256 ? 10 : 20)) return ScreenKind::rows;
#if defined(__x86_64__)
  if (k >= 32 && d >= 32) return ScreenKind::integers;
  const bool in_registers = d <= 4 && k <= 64;  // with the index in the low bits of a score
  if (k >= 64 && !in_registers) return ScreenKind::integers;
#endif
  return ScreenKind::tiles;
}

/// For scattered samples that the integer screen leaves open. Tiles of them have to be gathered.
constexpr ScreenKind fastest_for_gathered(std::int64_t k, std::int64_t d) {
  return d >= 128 && k <= 32 ? ScreenKind::rows : ScreenKind::tiles;
}

}  // namespace lloyd_openmp
