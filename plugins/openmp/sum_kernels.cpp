// Compiled once for each instruction set; the best one for the machine is chosen when it runs.
#include "sum_kernels.hpp"

#include <algorithm>
#include <cstdint>
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

// One sample.
template <class T>
struct Sample {
  static constexpr std::size_t kCount = 1;
  const T* x;

  template <class D>
  HWY_INLINE hn::Vec<D> value(D reals, std::size_t, std::int64_t j) const {
    return load(reals, x + j);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> total(D reals, std::int64_t j) const {
    return load(reals, x + j);
  }
};

// Samples of a cluster, each with 1 where it enters that and -1 where it leaves.
template <class T>
struct Term {
  const T* x;
  double sign;
};
template <class T, std::size_t Count>
struct Terms {
  static constexpr std::size_t kCount = Count;
  const Term<T>* terms;

  template <class D>
  HWY_INLINE hn::Vec<D> value(D reals, std::size_t i, std::int64_t j) const {
    return hn::Mul(load(reals, terms[i].x + j), hn::Set(reals, terms[i].sign));
  }
  // Exact for features that are narrow, and for one sample.
  template <class D>
  HWY_INLINE hn::Vec<D> total(D reals, std::int64_t j) const {
    auto sum = value(reals, 0, j);
    for (std::size_t i = 1; i < Count; ++i) {
      sum = hn::MulAdd(load(reals, terms[i].x + j), hn::Set(reals, terms[i].sign), sum);
    }
    return sum;
  }
};

// SumLayout::for_each_part() from feature j on, `use` with vectors of parts, at most Width of them
// and fewer for the last features; returns the first feature that is left. Products are exact: all
// scales are powers of two.
template <std::size_t Lanes, std::size_t Width, class Samples, class Use>
HWY_INLINE std::int64_t for_each_vector(const Samples& samples, const lloyd::SumLayout& layout,
                                        std::int64_t j, const Use& use) {
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
    if ((Samples::kCount == 1 && Lanes == 1) || layout.narrow[j / lloyd::SumLayout::kRun] != 0) {
      add_shift(samples.total(reals, j), 0);
      continue;
    }
    for (std::size_t i = 0; i < Samples::kCount; ++i) {
      auto rest = samples.value(reals, i, j);
      for (std::int64_t lane = Lanes - 1; lane >= 0; --lane) {
        const auto shifted = add_shift(rest, lane);
        if (lane > 0) {
          const auto quanta = hn::LoadU(reals, layout.quanta + lane * d + j);
          rest = hn::NegMulAdd(hn::Sub(shifted, shift), quanta, rest);
        }
      }
    }
  }
  if constexpr (Width > 2) {
    if (j + 2 <= d) return for_each_vector<Lanes, Width / 2>(samples, layout, j, use);
  }
  return j;
}

// All vectors of parts of samples to `use`; returns the first feature that is left.
template <class Samples, class Use>
HWY_INLINE std::int64_t for_each_vector(const Samples& samples, const lloyd::SumLayout& layout,
                                        const Use& use) {
  return layout.lanes == 1   ? for_each_vector<1, 8>(samples, layout, 0, use)
         : layout.lanes == 2 ? for_each_vector<2, 8>(samples, layout, 0, use)
                             : for_each_vector<3, 8>(samples, layout, 0, use);
}

// All parts of x: vectors of them to `use`, those of a feature that is left to `use_one`.
template <class T, class Use, class UseOne>
HWY_INLINE void for_each_part(const T* x, const lloyd::SumLayout& layout, const Use& use,
                              const UseOne& use_one) {
  const std::int64_t done = for_each_vector(Sample<T>{x}, layout, use);
  if (done < layout.features) layout.for_each_part(x, use_one, done);
}

// Vectors of parts to the sums of a cluster.
HWY_INLINE auto adder(std::int64_t* sums) {
  return [sums](auto tag, std::int64_t at, auto parts)
             HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(tag, sums + at), parts), tag, sums + at); };
}

template <class T>
HWY_INLINE void add_sample(const T* x, const lloyd::SumLayout& layout, std::int64_t* sums) {
  for_each_part(x, layout, adder(sums),
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

template <std::size_t Count, class T>
void add_terms(const Term<T>* terms, const lloyd::SumLayout& layout, std::int64_t* sums) {
  const std::int64_t done = for_each_vector(Terms<T, Count>{terms}, layout, adder(sums));
  if (done == layout.features) return;
  for (std::size_t i = 0; i < Count; ++i) {
    const bool enters = terms[i].sign > 0;
    layout.for_each_part(
        terms[i].x, [&](std::int64_t at, std::int64_t part) { sums[at] += enters ? part : -part; },
        done);
  }
}

// Of kTogether samples those of a cluster are taken one after another, SumLayout::kAtOnce of them
// added up before: the sums of a cluster are read and written once for these. It pays for so many
// features, and where that many samples share so few clusters.
constexpr std::int64_t kTogether = 64;
constexpr std::int64_t kMostClusters = 32;
constexpr std::int64_t kLeastFeatures = 64;

HWY_INLINE bool by_cluster_pays(const lloyd::SumLayout& layout) {
  return layout.features >= kLeastFeatures && layout.clusters <= kMostClusters;
}

// for_each(body) calls body(cluster, x, sign) for each term, at most 2 kTogether.
template <class T, class ForEach>
HWY_INLINE void add_by_cluster(const ForEach& for_each, const lloyd::SumLayout& layout,
                               std::int64_t* sums) {
  static_assert(2 * kTogether <= 255);
  std::uint8_t ends[kMostClusters + 1] = {};
  for_each([&](std::int32_t cluster, const T*, double) { ++ends[cluster + 1]; });
  const std::int64_t clusters = layout.clusters;
  for (std::int64_t c = 0; c < clusters; ++c) {
    ends[c + 1] = static_cast<std::uint8_t>(ends[c] + ends[c + 1]);
  }
  Term<T> terms[2 * kTogether];
  for_each([&](std::int32_t cluster, const T* x, double sign) {
    terms[ends[cluster]++] = {x, sign};
  });
  const Term<T>* next = terms;
  for (std::int64_t c = 0; c < clusters; ++c) {
    std::int64_t* const of_cluster = sums + c * layout.features;
    const Term<T>* const end = terms + ends[c];
    static_assert(lloyd::SumLayout::kAtOnce == 4);
    for (; end - next >= 4; next += 4) add_terms<4>(next, layout, of_cluster);
    if (end - next == 3) add_terms<3>(next, layout, of_cluster);
    if (end - next == 2) add_terms<2>(next, layout, of_cluster);
    if (end - next == 1) add_terms<1>(next, layout, of_cluster);
    next = end;
  }
}

template <class T>
HWY_INLINE void add(const T* data, std::int64_t stride, std::int64_t rows,
                    const std::int32_t* labels, const lloyd::SumLayout& given, std::int64_t* sums,
                    std::int64_t* counts) {
  const lloyd::SumLayout layout = given;  // which sums that are written cannot change
  if (by_cluster_pays(layout)) {
    for (std::int64_t begin = 0; begin < rows; begin += kTogether) {
      const std::int64_t end = std::min(begin + kTogether, rows);
      const auto for_each = [&](const auto& body) {
        for (std::int64_t i = begin; i < end; ++i) body(labels[i], data + i * stride, 1.0);
      };
      add_by_cluster<T>(for_each, layout, sums);
      for (std::int64_t i = begin; i < end; ++i) ++counts[labels[i]];
    }
    return;
  }
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
  if (by_cluster_pays(layout)) {
    for (std::int64_t begin = 0; begin < count; begin += kTogether) {
      const std::int64_t end = std::min(begin + kTogether, count);
      const auto for_each = [&](const auto& body) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto [row, from, to] = changes[i];
          if (from >= 0) body(from, data + row * stride, -1.0);
          body(to, data + row * stride, 1.0);
        }
      };
      add_by_cluster<T>(for_each, layout, sums);
      for (std::int64_t i = begin; i < end; ++i) {
        if (changes[i].from >= 0) --counts[changes[i].from];
        ++counts[changes[i].to];
      }
    }
    return;
  }
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
