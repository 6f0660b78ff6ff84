// Dot products of 16-bit integers. Included once per instruction set, after vector_targets.hpp.
#if defined(LLOYD_OPENMP_INTEGER_PRODUCTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LLOYD_OPENMP_INTEGER_PRODUCTS_INL_HPP
#undef LLOYD_OPENMP_INTEGER_PRODUCTS_INL_HPP
#else
#define LLOYD_OPENMP_INTEGER_PRODUCTS_INL_HPP
#endif

#include <cstddef>

#include <hwy/highway.h>

#include "common/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

using IntTag = SignedTag<float>;
using IntVector = hn::Vec<IntTag>;

// Registers that hold samples, and centroids per panel, whose scores fill the other registers. The
// more centroids in a panel, the less often a tile is read.
constexpr std::size_t kSampleRegisters = 2;
constexpr std::size_t kMaxPanelCentroids = kManyRegisters ? 12 : 6;

// Some machines with AVX-512 lack VNNI; InstructionSet::for_integer_screen() selects AVX2 there, if
// AVX2 kernels are compiled.
#undef LLOYD_HAS_DOT_PRODUCT
#if HWY_TARGET == HWY_AVX3 && ((HWY_TARGETS & HWY_AVX2) || defined(__AVX512VNNI__))
#define LLOYD_HAS_DOT_PRODUCT 1
#else
#define LLOYD_HAS_DOT_PRODUCT 0
#endif

// Returns sums + a.b, per lane the dot product of two 16-bit pairs.
HWY_INLINE IntVector add_dot_products(IntVector sums, IntVector a, IntVector b) {
#if LLOYD_HAS_DOT_PRODUCT
  asm("vpdpwssd %2, %1, %0" : "+v"(sums.raw) : "v"(a.raw), "v"(b.raw));
  return sums;
#elif !HWY_ARCH_X86 || HWY_TARGET >= HWY_EMU128
  const auto low = [](IntVector pair)
                       HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(pair)); };
  const auto products =
      hn::Add(hn::Mul(low(a), low(b)), hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b)));
  return hn::Add(sums, products);
#else
  const hn::RepartitionToNarrow<IntTag> halves;
  IntVector unused = hn::Zero(IntTag());
  const IntVector products = hn::ReorderWidenMulAccumulate(
      IntTag(), hn::BitCast(halves, a), hn::BitCast(halves, b), hn::Zero(IntTag()), unused);
  // In place: GCC 12 otherwise moves each sum to another register or to memory.
#if !HWY_COMPILER_GCC_ACTUAL
  return hn::Add(sums, products);
#elif HWY_TARGET <= HWY_AVX2
  asm("vpaddd %1, %0, %0" : "+v"(sums.raw) : "v"(products.raw));
  return sums;
#else
  asm("paddd %1, %0" : "+x"(sums.raw) : "x"(products.raw));
  return sums;
#endif
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#endif
