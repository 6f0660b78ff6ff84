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

// SumLayout::for_each_part() from feature j on, `use` with vectors of parts, at most Width of them
// and fewer for the last features; returns the first feature that is left. Products are exact: all
// scales are powers of two.
template <std::size_t Lanes, std::size_t Width, class T, class Use>
HWY_INLINE std::int64_t for_each_vector(const T* x, const lloyd::SumLayout& layout, std::int64_t j,
                                        const Use& use) {
  const Reals<Width> reals;
  const Integers<Width> integers;
  const auto shift = hn::Set(reals, lloyd::SumLayout::kShift);
  const auto width = static_cast<std::int64_t>(hn::Lanes(reals));
  const std::int64_t d = layout.features;
  const auto add_shift = [&](auto rest, std::int64_t lane) HWY_ATTR {
    const auto scales = hn::LoadU(reals, layout.scales + lane * d + j);
    const auto shifted = hn::MulAdd(rest, scales, shift);
    use(integers, lane * layout.apart + j,
        hn::Sub(hn::BitCast(integers, shifted), hn::BitCast(integers, shift)));
    return shifted;
  };
  for (; j + width <= d; j += width) {
    auto rest = load(reals, x + j);
    if (Lanes == 1 || layout.narrow[j / lloyd::SumLayout::kRun] != 0) {
      add_shift(rest, 0);
      continue;
    }
    for (std::int64_t lane = Lanes - 1; lane >= 0; --lane) {
      const auto shifted = add_shift(rest, lane);
      if (lane > 0) {
        const auto quanta = hn::LoadU(reals, layout.quanta + lane * d + j);
        rest = hn::NegMulAdd(hn::Sub(shifted, shift), quanta, rest);
      }
    }
  }
  if constexpr (Width > 2) {
    if (j + 2 <= d) return for_each_vector<Lanes, Width / 2>(x, layout, j, use);
  }
  return j;
}

// All parts of x: vectors of them to `use`, those of a feature that is left to `use_one`.
template <class T, class Use, class UseOne>
HWY_INLINE void for_each_part(const T* x, const lloyd::SumLayout& layout, const Use& use,
                              const UseOne& use_one) {
  const std::int64_t done = layout.lanes == 1   ? for_each_vector<1, 8>(x, layout, 0, use)
                            : layout.lanes == 2 ? for_each_vector<2, 8>(x, layout, 0, use)
                                                : for_each_vector<3, 8>(x, layout, 0, use);
  if (done < layout.features) layout.for_each_part(x, use_one, done);
}

template <class T>
HWY_INLINE void add_sample(const T* x, const lloyd::SumLayout& layout, std::int64_t* sums) {
  for_each_part(
      x, layout,
      [&](auto tag, std::int64_t at, auto parts)
          HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(tag, sums + at), parts), tag, sums + at); },
      [&](std::int64_t at, std::int64_t part) { sums[at] += part; });
}

template <class T>
HWY_INLINE void move_sample(const T* x, const lloyd::SumLayout& layout, std::int64_t* leaves,
                            std::int64_t* enters) {
  for_each_part(
      x, layout,
      [&](auto tag, std::int64_t at, auto parts) HWY_ATTR {
        hn::StoreU(hn::Sub(hn::LoadU(tag, leaves + at), parts), tag, leaves + at);
        hn::StoreU(hn::Add(hn::LoadU(tag, enters + at), parts), tag, enters + at);
      },
      [&](std::int64_t at, std::int64_t part) {
        leaves[at] -= part;
        enters[at] += part;
      });
}

template <class T>
HWY_INLINE void add(const T* data, std::int64_t stride, std::int64_t rows,
                    const std::int32_t* labels, const lloyd::SumLayout& given, std::int64_t* sums,
                    std::int64_t* counts) {
  const lloyd::SumLayout layout = given;  // which sums that are written cannot change
  for (std::int64_t i = 0; i < rows; ++i) {
    add_sample(data + i * stride, layout, sums + labels[i] * layout.features);
    ++counts[labels[i]];
  }
}

template <class T>
HWY_INLINE void move(const T* data, std::int64_t stride, const lloyd::LabelChange* changes,
                     std::int64_t count, const lloyd::SumLayout& given, std::int64_t* sums,
                     std::int64_t* counts) {
  const lloyd::SumLayout layout = given;  // which sums that are written cannot change
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [row, from, to] = changes[i];
    const T* const x = data + row * stride;
    ++counts[to];
    if (from < 0) {
      add_sample(x, layout, sums + to * layout.features);
    } else {
      --counts[from];
      move_sample(x, layout, sums + from * layout.features, sums + to * layout.features);
    }
  }
}

void add_float(const float* data, std::int64_t stride, std::int64_t rows,
               const std::int32_t* labels, const lloyd::SumLayout& layout, std::int64_t* sums,
               std::int64_t* counts) {
  add(data, stride, rows, labels, layout, sums, counts);
}
void add_double(const double* data, std::int64_t stride, std::int64_t rows,
                const std::int32_t* labels, const lloyd::SumLayout& layout, std::int64_t* sums,
                std::int64_t* counts) {
  add(data, stride, rows, labels, layout, sums, counts);
}
void move_float(const float* data, std::int64_t stride, const lloyd::LabelChange* changes,
                std::int64_t count, const lloyd::SumLayout& layout, std::int64_t* sums,
                std::int64_t* counts) {
  move(data, stride, changes, count, layout, sums, counts);
}
void move_double(const double* data, std::int64_t stride, const lloyd::LabelChange* changes,
                 std::int64_t count, const lloyd::SumLayout& layout, std::int64_t* sums,
                 std::int64_t* counts) {
  move(data, stride, changes, count, layout, sums, counts);
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

template <>
lloyd::SumKernels<float> sum_kernels(InstructionSet set) {
  return {&LLOYD_DISPATCH(set, add_float), &LLOYD_DISPATCH(set, move_float)};
}
template <>
lloyd::SumKernels<double> sum_kernels(InstructionSet set) {
  return {&LLOYD_DISPATCH(set, add_double), &LLOYD_DISPATCH(set, move_double)};
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
