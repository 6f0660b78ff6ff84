// Sums of many features. Included once for each instruction set, after vector_targets.hpp.
#if defined(LLOYD_OPENMP_SUM_GROUPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LLOYD_OPENMP_SUM_GROUPS_INL_HPP
#undef LLOYD_OPENMP_SUM_GROUPS_INL_HPP
#else
#define LLOYD_OPENMP_SUM_GROUPS_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lloyd/plugin/cluster_sums.hpp>

#include "leading-inl.hpp"
#include "rows_ahead.hpp"
#include "sum_kernels.hpp"
#include "sum_parts-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// Many features: samples of the same clusters are taken one after another, SumLayout::kAtOnce of
// them added up before, so that sums are read and written once for these. `leaves` is null for
// samples that had no cluster.

// Some features of one of them.
template <class T>
HWY_NOINLINE void move_some(const T* x, const lloyd::SumLayout& given, std::int64_t* leaves,
                            std::int64_t* enters, std::int64_t first, std::int64_t end) {
  const lloyd::SumLayout layout = given;  // GCC 12 reads the given one again after each store
  move_sample(x, layout, leaves, enters, first, end);
}

// A run of features of Count samples, of whose values kShift cannot take the sum: the parts in each
// of `Lanes` lanes are added up before instead.
template <std::size_t Count, bool kLeaves, std::size_t Lanes, class T>
HWY_INLINE void move_parts(const T* const* samples, const lloyd::SumLayout& layout,
                           std::int64_t* leaves, std::int64_t* enters, std::int64_t run) {
  const Reals<lloyd::SumLayout::kRun> reals;
  const Integers<lloyd::SumLayout::kRun> integers;
  const auto width = static_cast<std::int64_t>(hn::Lanes(reals));
  const auto shift = hn::Set(reals, lloyd::SumLayout::kShift);
  for (std::int64_t j = run; j < run + lloyd::SumLayout::kRun; j += width) {
    hn::Vec<decltype(integers)> parts[Lanes];
    unroll<Lanes>([&](auto lane) HWY_ATTR { parts[lane] = hn::Zero(integers); });
    unroll<Count>([&](auto i) HWY_ATTR {
      auto rest = load(reals, samples[i] + j);
      unroll<Lanes>([&](auto below) HWY_ATTR {
        constexpr std::size_t kLane = Lanes - 1 - decltype(below)::value;
        const std::int64_t at = static_cast<std::int64_t>(kLane) * layout.features + j;
        const auto shifted = hn::MulAdd(rest, hn::LoadU(reals, layout.scales + at), shift);
        parts[kLane] = hn::Add(
            parts[kLane], hn::Sub(hn::BitCast(integers, shifted), hn::BitCast(integers, shift)));
        if constexpr (kLane > 0) {
          rest = hn::NegMulAdd(hn::Sub(shifted, shift), hn::LoadU(reals, layout.quanta + at), rest);
        }
      });
    });
    unroll<Lanes>([&](auto lane) HWY_ATTR {
      const std::int64_t at = static_cast<std::int64_t>(lane) * layout.apart + j;
      hn::StoreU(hn::Add(hn::LoadU(integers, enters + at), parts[lane]), integers, enters + at);
      if constexpr (kLeaves) {
        hn::StoreU(hn::Sub(hn::LoadU(integers, leaves + at), parts[lane]), integers, leaves + at);
      }
    });
  }
}

// move_parts() of as many lanes as there are; apart from move_group(), for which runs are seldom
// wide.
template <std::size_t Count, bool kLeaves, class T>
HWY_NOINLINE HWY_FLATTEN void move_wide_run(const T* const* samples, const lloyd::SumLayout& given,
                                            std::int64_t* leaves, std::int64_t* enters,
                                            std::int64_t run) {
  const lloyd::SumLayout layout = given;  // GCC 12 reads the given one again after each store
  if (layout.lanes == 1) {
    move_parts<Count, kLeaves, 1>(samples, layout, leaves, enters, run);
  } else if (layout.lanes == 2) {
    move_parts<Count, kLeaves, 2>(samples, layout, leaves, enters, run);
  } else {
    move_parts<Count, kLeaves, 3>(samples, layout, leaves, enters, run);
  }
}

// Count samples from and to the same clusters; asks for as many `next` ones.
template <std::size_t Count, bool kLeaves, class T>
HWY_NOINLINE HWY_FLATTEN void move_group(const T* const* samples, const T* const* next,
                                         const lloyd::SumLayout& given, std::int64_t* leaves,
                                         std::int64_t* enters) {
  static_assert(Count <= lloyd::SumLayout::kAtOnce);
  constexpr std::int64_t kRun = lloyd::SumLayout::kRun;
  constexpr std::int64_t kLine = 64 / sizeof(T);
  const Reals<kRun> reals;
  const Integers<kRun> integers;
  constexpr std::int64_t kWidth = hn::MaxLanes(Reals<kRun>());
  const auto shift = hn::Set(reals, lloyd::SumLayout::kShift);
  const lloyd::SumLayout layout = given;  // GCC 12 reads the given one again after each store
  const T* x[Count];
  unroll<Count>([&](auto i) HWY_ATTR { x[i] = samples[i]; });
  // A lane that is full has no room for a sum of several values.
  const bool one_lane = Count == 1 && layout.lanes == 1;
  const std::int64_t whole = layout.features / kRun * kRun;
  RowsAhead<T> ahead(next, whole);
  for (std::int64_t run = 0; run < whole; run += kRun) {
    if (run % kLine == 0) {
      unroll<Count>([&](auto) HWY_ATTR { ahead.ask_for_line(); });
    }
    if (!one_lane && layout.narrow[run / kRun] == 0) {
      move_wide_run<Count, kLeaves>(samples, given, leaves, enters, run);
      continue;
    }
    unroll<kRun / kWidth>([&](auto v) HWY_ATTR {
      const std::int64_t j = run + v * kWidth;
      auto sum = load(reals, x[0] + j);
      unroll<Count - 1>([&](auto i) HWY_ATTR { sum = hn::Add(sum, load(reals, x[i + 1] + j)); });
      const auto shifted = hn::MulAdd(sum, hn::LoadU(reals, layout.scales + j), shift);
      const auto parts = hn::Sub(hn::BitCast(integers, shifted), hn::BitCast(integers, shift));
      hn::StoreU(hn::Add(hn::LoadU(integers, enters + j), parts), integers, enters + j);
      if constexpr (kLeaves) {
        hn::StoreU(hn::Sub(hn::LoadU(integers, leaves + j), parts), integers, leaves + j);
      }
    });
  }
  if (whole == layout.features) return;
  for (std::size_t i = 0; i < Count; ++i) {
    move_some(samples[i], given, leaves, enters, whole, layout.features);
  }
}

// Those of a group, [samples, end), which others follow that may be asked for.
template <bool kLeaves, class T>
HWY_INLINE void move_all(const T* const* samples, const T* const* end,
                         const lloyd::SumLayout& layout, std::int64_t* leaves,
                         std::int64_t* enters) {
  static_assert(lloyd::SumLayout::kAtOnce == 4);
  for (; end - samples >= 4; samples += 4) {
    move_group<4, kLeaves>(samples, samples + 4, layout, leaves, enters);
  }
  if (end - samples >= 2) {
    move_group<2, kLeaves>(samples, samples + 2, layout, leaves, enters);
    samples += 2;
  }
  if (samples != end) move_group<1, kLeaves>(samples, samples + 1, layout, leaves, enters);
}

// Most clusters by which samples are put in order.
constexpr std::int64_t kMostClusters = 32;

// Puts `count` samples, at most kMostSummedTogether, in order of their keys, which are below
// `keys`, and calls use(key, begin, end) for those of each key. There is at least one.
template <std::int64_t MostKeys, class T, class KeyOf, class SampleOf, class Use>
HWY_INLINE void for_each_group(std::int64_t count, std::int64_t keys, const KeyOf& key_of,
                               const SampleOf& sample_of, const Use& use) {
  std::uint16_t ends[MostKeys + 1] = {};
  for (std::int64_t i = 0; i < count; ++i) ++ends[key_of(i) + 1];
  for (std::int64_t key = 0; key < keys; ++key) {
    ends[key + 1] = static_cast<std::uint16_t>(ends[key] + ends[key + 1]);
  }
  const T* samples[kMostSummedTogether + lloyd::SumLayout::kAtOnce];
  for (std::int64_t i = 0; i < count; ++i) samples[ends[key_of(i)]++] = sample_of(i);
  std::fill_n(samples + count, lloyd::SumLayout::kAtOnce, sample_of(count - 1));
  const T* const* next = samples;
  for (std::int64_t key = 0; key < keys; ++key) {
    const T* const* const end = samples + ends[key];
    if (next != end) use(key, next, end);
    next = end;
  }
}

// Up to kMostSummedTogether samples that had no cluster.
template <class T, class LabelOf, class SampleOf>
HWY_INLINE void add_together(std::int64_t count, const LabelOf& label_of, const SampleOf& sample_of,
                             const lloyd::SumLayout& layout, std::int64_t* sums) {
  if (layout.clusters <= kMostClusters) {
    for_each_group<kMostClusters, T>(
        count, layout.clusters, label_of, sample_of,
        [&](std::int64_t cluster, const T* const* begin, const T* const* end) {
          move_all<false>(begin, end, layout, nullptr, sums + cluster * layout.features);
        });
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const samples[] = {sample_of(i), sample_of(std::min(i + 1, count - 1))};
    move_group<1, false>(samples, samples + 1, layout, nullptr,
                         sums + label_of(i) * layout.features);
  }
}

// Up to kMostSummedTogether samples.
template <class T>
HWY_INLINE void move_together(const T* data, std::int64_t stride, const lloyd::LabelChange* changes,
                              std::int64_t count, const lloyd::SumLayout& layout,
                              std::int64_t* sums) {
  const std::int64_t k = layout.clusters;
  const auto sample_of = [&](std::int64_t i) { return data + changes[i].row * stride; };
  const auto had_none = [](const lloyd::LabelChange& change) { return change.from < 0; };
  if (std::all_of(changes, changes + count, had_none)) {
    add_together<T>(
        count, [&](std::int64_t i) { return changes[i].to; }, sample_of, layout, sums);
    return;
  }
  // Fewer are each alone in leaving one cluster for another.
  if (k <= kMostClusters && count >= 2 * k * k &&
      std::none_of(changes, changes + count, had_none)) {
    for_each_group<kMostClusters * kMostClusters, T>(
        count, k * k, [&](std::int64_t i) { return changes[i].from * k + changes[i].to; },
        sample_of,
        [&](std::int64_t key, const T* const* begin, const T* const* end) {
          move_all<true>(begin, end, layout, sums + key / k * layout.features,
                         sums + key % k * layout.features);
        });
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const samples[] = {sample_of(i), sample_of(std::min(i + 1, count - 1))};
    std::int64_t* const enters = sums + changes[i].to * layout.features;
    if (had_none(changes[i])) {
      move_group<1, false>(samples, samples + 1, layout, nullptr, enters);
    } else {
      move_group<1, true>(samples, samples + 1, layout, sums + changes[i].from * layout.features,
                          enters);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#endif
