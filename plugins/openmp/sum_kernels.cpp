// Compiled once for each instruction set; the best one for the machine is chosen when it runs.
#include "sum_kernels.hpp"

#include <iterator>

#include "vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sum_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Reals = hn::CappedTag<double, 8>;
using Integers = hn::RebindToSigned<Reals>;

HWY_INLINE hn::Vec<Reals> load(const float* x) {
  return hn::PromoteTo(Reals(), hn::LoadU(hn::Rebind<float, Reals>(), x));
}
HWY_INLINE hn::Vec<Reals> load(const double* x) {
  return hn::LoadU(Reals(), x);
}

// SumLayout::for_each_part(), `use` with vectors of parts; returns how many features they are of.
template <std::size_t Lanes, class T, class Use>
HWY_INLINE std::int64_t for_each_vector(const T* x, const lloyd::SumLayout& layout,
                                        const Use& use) {
  const Reals reals;
  const Integers integers;
  const auto shift = hn::Set(reals, lloyd::SumLayout::kShift);
  const auto width = static_cast<std::int64_t>(hn::Lanes(reals));
  const std::int64_t d = layout.features;
  std::int64_t j = 0;
  for (; j + width <= d; j += width) {
    auto rest = load(x + j);
    for (std::int64_t lane = Lanes - 1; lane >= 0; --lane) {
      const auto scales = hn::LoadU(reals, layout.scales + lane * d + j);
      const auto shifted = hn::Add(hn::Mul(rest, scales), shift);
      use(lane * layout.apart + j,
          hn::Sub(hn::BitCast(integers, shifted), hn::BitCast(integers, shift)));
      if (lane > 0) {
        const auto quanta = hn::LoadU(reals, layout.quanta + lane * d + j);
        rest = hn::Sub(rest, hn::Mul(hn::Sub(shifted, shift), quanta));
      }
    }
  }
  return j;
}

// All parts of x: vectors of them to `use`, those of the last features to `use_one`.
template <class T, class Use, class UseOne>
HWY_INLINE void for_each_part(const T* x, const lloyd::SumLayout& layout, const Use& use,
                              const UseOne& use_one) {
  const std::int64_t done = layout.lanes == 1   ? for_each_vector<1>(x, layout, use)
                            : layout.lanes == 2 ? for_each_vector<2>(x, layout, use)
                                                : for_each_vector<3>(x, layout, use);
  layout.for_each_part(x, use_one, done);
}

template <class T>
HWY_INLINE void add(const T* x, const lloyd::SumLayout& layout, std::int64_t* sums) {
  const Integers tag;
  for_each_part(
      x, layout,
      [&](std::int64_t at, auto parts)
          HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(tag, sums + at), parts), tag, sums + at); },
      [&](std::int64_t at, std::int64_t part) { sums[at] += part; });
}

template <class T>
HWY_INLINE void move(const T* x, const lloyd::SumLayout& layout, std::int64_t* leaves,
                     std::int64_t* enters) {
  const Integers tag;
  for_each_part(
      x, layout,
      [&](std::int64_t at, auto parts) HWY_ATTR {
        hn::StoreU(hn::Sub(hn::LoadU(tag, leaves + at), parts), tag, leaves + at);
        hn::StoreU(hn::Add(hn::LoadU(tag, enters + at), parts), tag, enters + at);
      },
      [&](std::int64_t at, std::int64_t part) {
        leaves[at] -= part;
        enters[at] += part;
      });
}

void add_float(const float* x, const lloyd::SumLayout& layout, std::int64_t* sums) {
  add(x, layout, sums);
}
void add_double(const double* x, const lloyd::SumLayout& layout, std::int64_t* sums) {
  add(x, layout, sums);
}
void move_float(const float* x, const lloyd::SumLayout& layout, std::int64_t* leaves,
                std::int64_t* enters) {
  move(x, layout, leaves, enters);
}
void move_double(const double* x, const lloyd::SumLayout& layout, std::int64_t* leaves,
                 std::int64_t* enters) {
  move(x, layout, leaves, enters);
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(add_float);
HWY_EXPORT(add_double);
HWY_EXPORT(move_float);
HWY_EXPORT(move_double);

namespace {
constexpr std::int64_t kLeastFeatures = 8;
}

template <>
lloyd::SumKernels<float> sum_kernels(InstructionSet set, std::int64_t d) {
  if (d < kLeastFeatures) return {};
  return {&LLOYD_DISPATCH(set, add_float), &LLOYD_DISPATCH(set, move_float)};
}
template <>
lloyd::SumKernels<double> sum_kernels(InstructionSet set, std::int64_t d) {
  if (d < kLeastFeatures) return {};
  return {&LLOYD_DISPATCH(set, add_double), &LLOYD_DISPATCH(set, move_double)};
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
