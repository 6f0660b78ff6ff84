// Rounds float32 samples to the 16-bit tiles that screen_integers() takes.
#pragma once

#include <cstdint>

#include "screens/integer_screen.hpp"

namespace lloyd_openmp {

/// Rounds a tile of d vectors, relative to the origin. `radius`: E of IntegerScreen, or more to
/// leave room for growth. `integers`: points to pair_lines(d) lines, norms and residuals. The unit
/// follows from the sample with the largest norm.
void round_tile(InstructionSet set, const TileVector<float>* tile, std::int64_t d, double radius,
                IntegerTile& integers);

/// With fewer features, building a float tile first is faster: horizontal sums would dominate.
inline constexpr std::int64_t kMinRowRoundingFeatures = 32;
/// True if round_rows() supports d features with this instruction set.
bool can_round_rows(InstructionSet set, std::int64_t d);

/// Rounds kTile samples row by row, without transposing them into a float tile. The unit also uses
/// the largest component, so it may be finer. `samples`: pointers, duplicates allowed; `origin`: d
/// values.
void round_rows(InstructionSet set, const float* const* samples, std::int64_t d,
                const float* origin, double radius, IntegerTile& integers);

}  // namespace lloyd_openmp
