// ScoreLimit: the gap between two scores that proves a label.
#pragma once

#include <cstdint>

namespace lloyd_openmp {

/// The label of a sample y is proven if the second lowest score exceeds the lowest by more than
/// base + slope |y| + square |y|^2. The error of a score is at most half of this limit, and that of
/// the computed |y|^2 at most norm_excess |y|^2. Proof: docs/design/openmp/exactness.md, section 1.
template <class Real>
struct ScoreLimit {
  Real base, slope, square;
  Real norm_excess;
};

/// Features per accumulation chain; the sums of the chains are then added. The error bound grows
/// with the chain length, so shorter chains prove more labels.
inline constexpr std::int64_t kScoreBlock = 64;

}  // namespace lloyd_openmp
