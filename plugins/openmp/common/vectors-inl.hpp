// Vector helpers that all kernels over tiles share. Included once per instruction set, after
// vector_targets.hpp.
#if defined(LLOYD_OPENMP_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LLOYD_OPENMP_VECTORS_INL_HPP
#undef LLOYD_OPENMP_VECTORS_INL_HPP
#else
#define LLOYD_OPENMP_VECTORS_INL_HPP
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

#include "common/tile.hpp"
#include "common/tile_labels.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// True with 32 vector registers, false with 16.
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM;
// Registers that hold the samples in the inner loops over a floating-point tile.
constexpr std::size_t kSampleVectors = kManyRegisters ? 4 : 2;

// Calls body(0) to body(Count - 1) with compile-time constants: arrays of vectors that are indexed
// by constants stay in registers.
template <std::size_t Count, class Body>
HWY_INLINE void unroll(const Body& body) {
  if constexpr (Count > 0) {
    unroll<Count - 1>(body);
    body(std::integral_constant<std::size_t, Count - 1>());
  }
}

template <class Real>
using Tag = hn::CappedTag<Real, kTile / kSampleVectors>;
template <class Real>
using SignedTag = hn::RebindToSigned<Tag<Real>>;
template <class Real>
using Vector = hn::Vec<Tag<Real>>;

#if HWY_TARGET != HWY_SCALAR

// Loads the first four values of rows 0, 4, 8, ..., as many rows as fit in a vector.
template <class D>
HWY_INLINE hn::Vec<D> load_every_fourth_row(D tag, const hn::TFromD<D>* rows, std::int64_t stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(tag, rows);
  } else {
    const hn::Half<D> half;
    const hn::TFromD<D>* upper = rows + static_cast<std::int64_t>(hn::MaxLanes(D())) / 2 * stride;
    return hn::Combine(tag, load_every_fourth_row(half, upper, stride),
                       load_every_fourth_row(half, rows, stride));
  }
}

// Transposes the first four values of as many rows as the vector has lanes.
template <class D>
HWY_INLINE void transpose(D tag, const hn::TFromD<D>* rows, std::int64_t stride,
                          hn::Vec<D> (&columns)[4]) {
  const hn::RepartitionToWide<D> pairs;
  const auto row0 = load_every_fourth_row(tag, rows, stride);
  const auto row1 = load_every_fourth_row(tag, rows + stride, stride);
  const auto row2 = load_every_fourth_row(tag, rows + 2 * stride, stride);
  const auto row3 = load_every_fourth_row(tag, rows + 3 * stride, stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(tag, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(tag, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(tag, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(tag, row2, row3));
  columns[0] = hn::BitCast(tag, hn::InterleaveLower(pairs, low01, low23));
  columns[1] = hn::BitCast(tag, hn::InterleaveUpper(pairs, low01, low23));
  columns[2] = hn::BitCast(tag, hn::InterleaveLower(pairs, high01, high23));
  columns[3] = hn::BitCast(tag, hn::InterleaveUpper(pairs, high01, high23));
}

#endif

template <class D, class Mask>
HWY_INLINE std::uint64_t bits_of(D tag, Mask mask) {
  std::uint64_t bits = 0;
  std::uint8_t bytes[sizeof(bits)] = {};
  hn::StoreMaskBits(tag, mask, bytes);
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

HWY_INLINE void store_index(hn::Vec<SignedTag<float>> index, std::int32_t* labels) {
  hn::Store(index, SignedTag<float>(), labels);
}
HWY_INLINE void store_index(hn::Vec<SignedTag<double>> index, std::int32_t* labels) {
  const SignedTag<double> tag;
  HWY_ALIGN std::int64_t wide[kTile];
  hn::Store(index, tag, wide);
  for (std::size_t lane = 0; lane < hn::Lanes(tag); ++lane) {
    labels[lane] = static_cast<std::int32_t>(wide[lane]);
  }
}

HWY_INLINE void find_changed(const std::int32_t* former, TileLabels& nearest) {
  const hn::CappedTag<std::int32_t, kTile> tag;
  nearest.changed = 0;
  for (std::size_t at = 0; at < kTile; at += hn::Lanes(tag)) {
    const auto differs = hn::Ne(hn::Load(tag, nearest.labels + at), hn::LoadU(tag, former + at));
    nearest.changed |= bits_of(tag, differs) << at;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#endif
