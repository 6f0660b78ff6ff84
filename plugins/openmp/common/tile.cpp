// Compiled once per instruction set; InstructionSet selects one at run time.
#include "common/tile.hpp"

#include <algorithm>
#include <iterator>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "common/tile.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "common/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

// Loads a full tile of float32 samples. Requires d >= 4, or contiguous samples of 2 or 3 features.
// Returns false if the target has no vectors.
bool load_full_tile(const float* samples, std::int64_t stride, std::int64_t d, const float* origin,
                    TileVector<float>* tile) {
  const hn::CappedTag<float, 16> tag;
  const std::size_t lanes = hn::Lanes(tag);
  for (std::size_t at = 0; at < kTile; at += lanes) {
    hn::Vec<decltype(tag)> x[4];
    const float* rows = samples + static_cast<std::int64_t>(at) * stride;
    if (d == 2) {
      hn::LoadInterleaved2(tag, rows, x[0], x[1]);
    } else if (d == 3) {
      hn::LoadInterleaved3(tag, rows, x[0], x[1], x[2]);
    }
    for (std::int64_t done = 0; done < d; done += 4) {
      // Unless d is a multiple of 4, the last four features overlap the previous four.
      const std::int64_t first = d < 4 ? 0 : std::min(done, d - 4);
      if (d >= 4) transpose(tag, rows + first, stride, x);
      for (std::int64_t j = 0; j < std::min<std::int64_t>(d, 4); ++j) {
        hn::Store(hn::Sub(x[j], hn::Set(tag, origin[first + j])), tag, tile[first + j].lanes + at);
      }
    }
  }
  return true;
}

#else

bool load_full_tile(const float*, std::int64_t, std::int64_t, const float*, TileVector<float>*) {
  return false;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(load_full_tile);

template <class T, class Real>
void load_tile(InstructionSet set, const T* samples, std::int64_t stride, std::int64_t rows,
               std::int64_t d, const Real* origin, TileVector<Real>* tile) {
  if constexpr (sizeof(T) == sizeof(float) && sizeof(Real) == sizeof(float)) {
    if (rows == kTile && (d >= 4 || (d >= 2 && stride == d))) {
      if (LLOYD_DISPATCH(set, load_full_tile)(samples, stride, d, origin, tile)) return;
    }
  }
  // In blocks of features, so that each cache line of a sample is read once.
  constexpr std::int64_t kFeatures = 16;
  for (std::int64_t begin = 0; begin < d; begin += kFeatures) {
    const std::int64_t end = std::min(begin + kFeatures, d);
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      const T* sample = samples + (lane < rows ? lane : 0) * stride;
      for (std::int64_t j = begin; j < end; ++j) {
        tile[j].lanes[lane] = static_cast<Real>(sample[j]) - origin[j];
      }
    }
  }
}

template void load_tile(InstructionSet, const float*, std::int64_t, std::int64_t, std::int64_t,
                        const float*, TileVector<float>*);
template void load_tile(InstructionSet, const float*, std::int64_t, std::int64_t, std::int64_t,
                        const double*, TileVector<double>*);
template void load_tile(InstructionSet, const double*, std::int64_t, std::int64_t, std::int64_t,
                        const double*, TileVector<double>*);

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
