// Rounding: tiles of float32 samples to the 16-bit integers that screen_integers() takes.
#pragma once

#include <cstdint>

#include "integer_screen.hpp"

namespace lloyd_openmp {

/// Rounds a tile of d rows, samples relative to the origin. `radius`: E of IntegerScreen, or what
/// it may become; `integers` points to room for pair_lines(d) lines, norms and residuals. The
/// farthest of all kTile samples chooses the unit, as if all of it were one value.
void round_tile(InstructionSet set, const TileVector<float>* tile, std::int64_t d, double radius,
                IntegerTile& integers);

/// Least features for round_rows(): of fewer the sums across rows weigh more than making a tile.
inline constexpr std::int64_t kMinRowRoundingFeatures = 32;
/// Whether round_rows() takes samples of d features.
bool can_round_rows(InstructionSet set, std::int64_t d);

/// The same of kTile samples of d features as they lie in memory, which saves making a tile of many
/// features; their greatest value is looked for, so that the unit may be smaller. `samples`: where
/// they are, any of them more than once; `origin`: d.
void round_rows(InstructionSet set, const float* const* samples, std::int64_t d,
                const float* origin, double radius, IntegerTile& integers);

}  // namespace lloyd_openmp
