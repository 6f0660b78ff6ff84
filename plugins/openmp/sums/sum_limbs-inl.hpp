// Splits values into limbs, in vectors. Included once per instruction set, after
// vector_targets.hpp.
#if defined(LLOYD_OPENMP_SUM_LIMBS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LLOYD_OPENMP_SUM_LIMBS_INL_HPP
#undef LLOYD_OPENMP_SUM_LIMBS_INL_HPP
#else
#define LLOYD_OPENMP_SUM_LIMBS_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include <lloyd/plugin/sdk/cluster_sums.hpp>

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t Width>
using Reals = hn::CappedTag<double, Width>;
template <std::size_t Width>
using Integers = hn::RebindToSigned<Reals<Width>>;

template <class D>
HWY_INLINE hn::Vec<D> load(D reals, const float* x) {
  return hn::PromoteTo(reals, hn::LoadU(hn::Rebind<float, D>(), x));
}
template <class D>
HWY_INLINE hn::Vec<D> load(D reals, const double* x) {
  return hn::LoadU(reals, x);
}

// SumLayout::for_each_limb() for features [j, end): calls `use` with vectors of at most Width
// limbs, fewer for the last features, and returns the first feature that is left. Products with
// scales are exact, because scales are powers of two.
template <std::size_t Limbs, std::size_t Width, class T, class Use>
HWY_INLINE std::int64_t for_each_limb_vector(const T* x, const lloyd::SumLayout& layout,
                                             std::int64_t j, std::int64_t end, const Use& use) {
  const Reals<Width> reals;
  const Integers<Width> integers;
  const auto magic = hn::Set(reals, lloyd::SumLayout::kRoundingMagic);
  const auto width = static_cast<std::int64_t>(hn::Lanes(reals));
  const std::int64_t d = layout.features;
  const auto round_to_limb = [&](auto remainder, std::int64_t limb) HWY_ATTR {
    const auto scales = hn::LoadU(reals, layout.scales + limb * d + j);
    const auto biased = hn::MulAdd(remainder, scales, magic);
    use(integers, limb * layout.limb_stride + j,
        hn::Sub(hn::BitCast(integers, biased), hn::BitCast(integers, magic)));
    return biased;
  };
  for (; j + width <= end; j += width) {
    auto remainder = load(reals, x + j);
    if (Limbs == 1 || layout.narrow[j / lloyd::SumLayout::kFeatureBlock] != 0) {
      round_to_limb(remainder, 0);
      continue;
    }
    for (std::int64_t limb = Limbs - 1; limb >= 0; --limb) {
      const auto biased = round_to_limb(remainder, limb);
      if (limb > 0) {
        const auto quanta = hn::LoadU(reals, layout.quanta + limb * d + j);
        remainder = hn::NegMulAdd(hn::Sub(biased, magic), quanta, remainder);
      }
    }
  }
  if constexpr (Width > 2) {
    if (j + 2 <= end) return for_each_limb_vector<Limbs, Width / 2>(x, layout, j, end, use);
  }
  return j;
}

// Calls use(tag, index, limbs) with vectors of all limbs of features [first, end) of x, and
// use_one(index, limb) for the last feature if it does not fill a vector. index: into the sums of a
// cluster.
template <class T, class Use, class UseOne>
HWY_INLINE void for_each_limb(const T* x, const lloyd::SumLayout& layout, std::int64_t first,
                              std::int64_t end, const Use& use, const UseOne& use_one) {
  const std::int64_t done =
      layout.limbs == 1   ? for_each_limb_vector<1, 8>(x, layout, first, end, use)
      : layout.limbs == 2 ? for_each_limb_vector<2, 8>(x, layout, first, end, use)
                          : for_each_limb_vector<3, 8>(x, layout, first, end, use);
  if (done < end) layout.for_each_limb(x, use_one, done);
}

// Adds features [first, end) of a sample.
template <class T>
HWY_INLINE void add_sample(const T* x, const lloyd::SumLayout& layout, std::int64_t* sums,
                           std::int64_t first, std::int64_t end) {
  for_each_limb(
      x, layout, first, end,
      [sums](auto tag, std::int64_t at, auto limbs)
          HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(tag, sums + at), limbs), tag, sums + at); },
      [sums](std::int64_t at, std::int64_t limb) { sums[at] += limb; });
}

// Subtracts features [first, end) of a sample from `from_sums`, unless null, and adds them to
// `to_sums`.
template <class T>
HWY_INLINE void move_sample(const T* x, const lloyd::SumLayout& layout, std::int64_t* from_sums,
                            std::int64_t* to_sums, std::int64_t first, std::int64_t end) {
  if (from_sums == nullptr) return add_sample(x, layout, to_sums, first, end);
  for_each_limb(
      x, layout, first, end,
      [&](auto tag, std::int64_t at, auto limbs) HWY_ATTR {
        hn::StoreU(hn::Sub(hn::LoadU(tag, from_sums + at), limbs), tag, from_sums + at);
        hn::StoreU(hn::Add(hn::LoadU(tag, to_sums + at), limbs), tag, to_sums + at);
      },
      [&](std::int64_t at, std::int64_t limb) {
        from_sums[at] -= limb;
        to_sums[at] += limb;
      });
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#endif
