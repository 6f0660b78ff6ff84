// Sums of samples with many features, grouped by label change. Included once per instruction set,
// after vector_targets.hpp.
#if defined(LLOYD_OPENMP_SUM_GROUPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LLOYD_OPENMP_SUM_GROUPS_INL_HPP
#undef LLOYD_OPENMP_SUM_GROUPS_INL_HPP
#else
#define LLOYD_OPENMP_SUM_GROUPS_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "common/row_prefetcher.hpp"
#include "common/vectors-inl.hpp"
#include "sums/sum_kernels.hpp"
#include "sums/sum_limbs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// Samples with the same change are processed consecutively, up to SumLayout::kMaxPresummed at a
// time, so that the sums are read and written once for each such group. `from_sums` is null for
// samples that had no label. Measurements: docs/design/openmp/sums.md.

// Subtracts features [first, end) of a sample from `from_sums`, unless null, and adds them to
// `to_sums`.
template <class T>
HWY_NOINLINE void move_features(const T* x, const lloyd::SumLayout& given, std::int64_t* from_sums,
                                std::int64_t* to_sums, std::int64_t first, std::int64_t end) {
  const lloyd::SumLayout layout =
      given;  // a local copy: GCC 12 would reload `given` after each store
  move_sample(x, layout, from_sums, to_sums, first, end);
}

// Moves a block of features of Count samples whose values need several limbs: sums the limbs of the
// samples instead of their values.
template <std::size_t Count, bool kSubtracts, std::size_t Limbs, class T>
HWY_INLINE void move_limbs(const T* const* samples, const lloyd::SumLayout& layout,
                           std::int64_t* from_sums, std::int64_t* to_sums, std::int64_t block) {
  const Reals<lloyd::SumLayout::kFeatureBlock> reals;
  const Integers<lloyd::SumLayout::kFeatureBlock> integers;
  const auto width = static_cast<std::int64_t>(hn::Lanes(reals));
  const auto magic = hn::Set(reals, lloyd::SumLayout::kRoundingMagic);
  for (std::int64_t j = block; j < block + lloyd::SumLayout::kFeatureBlock; j += width) {
    hn::Vec<decltype(integers)> limbs[Limbs];
    unroll<Limbs>([&](auto limb) HWY_ATTR { limbs[limb] = hn::Zero(integers); });
    unroll<Count>([&](auto i) HWY_ATTR {
      auto remainder = load(reals, samples[i] + j);
      unroll<Limbs>([&](auto from_top) HWY_ATTR {
        constexpr std::size_t kLimb = Limbs - 1 - decltype(from_top)::value;
        const std::int64_t at = static_cast<std::int64_t>(kLimb) * layout.features + j;
        const auto biased = hn::MulAdd(remainder, hn::LoadU(reals, layout.scales + at), magic);
        limbs[kLimb] = hn::Add(
            limbs[kLimb], hn::Sub(hn::BitCast(integers, biased), hn::BitCast(integers, magic)));
        if constexpr (kLimb > 0) {
          remainder = hn::NegMulAdd(hn::Sub(biased, magic), hn::LoadU(reals, layout.quanta + at),
                                    remainder);
        }
      });
    });
    unroll<Limbs>([&](auto limb) HWY_ATTR {
      const std::int64_t at = static_cast<std::int64_t>(limb) * layout.limb_stride + j;
      hn::StoreU(hn::Add(hn::LoadU(integers, to_sums + at), limbs[limb]), integers, to_sums + at);
      if constexpr (kSubtracts) {
        hn::StoreU(hn::Sub(hn::LoadU(integers, from_sums + at), limbs[limb]), integers,
                   from_sums + at);
      }
    });
  }
}

// Dispatches move_limbs() on the number of limbs. Not inlined into move_group(), because wide
// blocks are rare.
template <std::size_t Count, bool kSubtracts, class T>
HWY_NOINLINE HWY_FLATTEN void move_wide_block(const T* const* samples,
                                              const lloyd::SumLayout& given,
                                              std::int64_t* from_sums, std::int64_t* to_sums,
                                              std::int64_t block) {
  const lloyd::SumLayout layout = given;  // see move_features()
  if (layout.limbs == 1) {
    move_limbs<Count, kSubtracts, 1>(samples, layout, from_sums, to_sums, block);
  } else if (layout.limbs == 2) {
    move_limbs<Count, kSubtracts, 2>(samples, layout, from_sums, to_sums, block);
  } else {
    move_limbs<Count, kSubtracts, 3>(samples, layout, from_sums, to_sums, block);
  }
}

// Moves Count samples with the same change and prefetches as many `next` ones.
template <std::size_t Count, bool kSubtracts, class T>
HWY_NOINLINE HWY_FLATTEN void move_group(const T* const* samples, const T* const* next,
                                         const lloyd::SumLayout& given, std::int64_t* from_sums,
                                         std::int64_t* to_sums) {
  static_assert(Count <= lloyd::SumLayout::kMaxPresummed);
  constexpr std::int64_t kFeatureBlock = lloyd::SumLayout::kFeatureBlock;
  constexpr std::int64_t kLine = 64 / sizeof(T);
  const Reals<kFeatureBlock> reals;
  const Integers<kFeatureBlock> integers;
  constexpr std::int64_t kVectorValues = hn::MaxLanes(Reals<kFeatureBlock>());
  const auto magic = hn::Set(reals, lloyd::SumLayout::kRoundingMagic);
  const lloyd::SumLayout layout = given;  // see move_features()
  const T* x[Count];
  unroll<Count>([&](auto i) HWY_ATTR { x[i] = samples[i]; });
  // A single value always fits the only limb; the sum of several might not.
  const bool one_limb = Count == 1 && layout.limbs == 1;
  const std::int64_t whole = layout.features / kFeatureBlock * kFeatureBlock;
  RowPrefetcher<T> prefetcher(next, whole);
  for (std::int64_t block = 0; block < whole; block += kFeatureBlock) {
    if (block % kLine == 0) {
      unroll<Count>([&](auto) HWY_ATTR { prefetcher.prefetch_line(); });
    }
    if (!one_limb && layout.narrow[block / kFeatureBlock] == 0) {
      move_wide_block<Count, kSubtracts>(samples, given, from_sums, to_sums, block);
      continue;
    }
    unroll<kFeatureBlock / kVectorValues>([&](auto v) HWY_ATTR {
      const std::int64_t j = block + v * kVectorValues;
      auto sum = load(reals, x[0] + j);
      unroll<Count - 1>([&](auto i) HWY_ATTR { sum = hn::Add(sum, load(reals, x[i + 1] + j)); });
      const auto biased = hn::MulAdd(sum, hn::LoadU(reals, layout.scales + j), magic);
      const auto limbs = hn::Sub(hn::BitCast(integers, biased), hn::BitCast(integers, magic));
      hn::StoreU(hn::Add(hn::LoadU(integers, to_sums + j), limbs), integers, to_sums + j);
      if constexpr (kSubtracts) {
        hn::StoreU(hn::Sub(hn::LoadU(integers, from_sums + j), limbs), integers, from_sums + j);
      }
    });
  }
  if (whole == layout.features) return;
  for (std::size_t i = 0; i < Count; ++i) {
    move_features(samples[i], given, from_sums, to_sums, whole, layout.features);
  }
}

// Moves samples [samples, end) with the same change. At least kMaxPresummed valid pointers follow;
// their samples may be prefetched.
template <bool kSubtracts, class T>
HWY_INLINE void use_samples(const T* const* samples, const T* const* end,
                            const lloyd::SumLayout& layout, std::int64_t* from_sums,
                            std::int64_t* to_sums) {
  static_assert(lloyd::SumLayout::kMaxPresummed == 4);
  for (; end - samples >= 4; samples += 4) {
    move_group<4, kSubtracts>(samples, samples + 4, layout, from_sums, to_sums);
  }
  if (end - samples >= 2) {
    move_group<2, kSubtracts>(samples, samples + 2, layout, from_sums, to_sums);
    samples += 2;
  }
  if (samples != end) move_group<1, kSubtracts>(samples, samples + 1, layout, from_sums, to_sums);
}

// With more clusters, sorting does not pay.
constexpr std::int64_t kMaxSortedClusters = 32;

// Sorts 1 to kMaxBatchedSamples samples by keys in [0, keys) and calls use(key, begin, end) for
// each key that occurs.
template <std::int64_t MaxKeys, class T, class KeyOf, class SampleOf, class Use>
HWY_INLINE void for_each_key(std::int64_t count, std::int64_t keys, const KeyOf& key_of,
                             const SampleOf& sample_of, const Use& use) {
  std::uint16_t ends[MaxKeys + 1] = {};
  for (std::int64_t i = 0; i < count; ++i) ++ends[key_of(i) + 1];
  for (std::int64_t key = 0; key < keys; ++key) {
    ends[key + 1] = static_cast<std::uint16_t>(ends[key] + ends[key + 1]);
  }
  const T* samples[kMaxBatchedSamples + lloyd::SumLayout::kMaxPresummed];
  for (std::int64_t i = 0; i < count; ++i) samples[ends[key_of(i)]++] = sample_of(i);
  std::fill_n(samples + count, lloyd::SumLayout::kMaxPresummed, sample_of(count - 1));
  const T* const* next = samples;
  for (std::int64_t key = 0; key < keys; ++key) {
    const T* const* const end = samples + ends[key];
    if (next != end) use(key, next, end);
    next = end;
  }
}

// Adds up to kMaxBatchedSamples samples that had no label.
template <class T, class LabelOf, class SampleOf>
HWY_INLINE void add_batch(std::int64_t count, const LabelOf& label_of, const SampleOf& sample_of,
                          const lloyd::SumLayout& layout, std::int64_t* sums) {
  if (layout.clusters <= kMaxSortedClusters) {
    for_each_key<kMaxSortedClusters, T>(
        count, layout.clusters, label_of, sample_of,
        [&](std::int64_t cluster, const T* const* begin, const T* const* end) {
          use_samples<false>(begin, end, layout, nullptr, sums + cluster * layout.features);
        });
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const samples[] = {sample_of(i), sample_of(std::min(i + 1, count - 1))};
    move_group<1, false>(samples, samples + 1, layout, nullptr,
                         sums + label_of(i) * layout.features);
  }
}

// Moves up to kMaxBatchedSamples samples.
template <class T>
HWY_INLINE void move_batch(const T* data, std::int64_t stride, const lloyd::LabelChange* changes,
                           std::int64_t count, const lloyd::SumLayout& layout, std::int64_t* sums) {
  const std::int64_t k = layout.clusters;
  const auto sample_of = [&](std::int64_t i) { return data + changes[i].row * stride; };
  const auto was_unlabelled = [](const lloyd::LabelChange& change) { return change.from < 0; };
  if (std::all_of(changes, changes + count, was_unlabelled)) {
    add_batch<T>(
        count, [&](std::int64_t i) { return changes[i].to; }, sample_of, layout, sums);
    return;
  }
  // With fewer changes most groups would have a single sample.
  if (k <= kMaxSortedClusters && count >= 2 * k * k &&
      std::none_of(changes, changes + count, was_unlabelled)) {
    for_each_key<kMaxSortedClusters * kMaxSortedClusters, T>(
        count, k * k, [&](std::int64_t i) { return changes[i].from * k + changes[i].to; },
        sample_of,
        [&](std::int64_t key, const T* const* begin, const T* const* end) {
          use_samples<true>(begin, end, layout, sums + key / k * layout.features,
                            sums + key % k * layout.features);
        });
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const samples[] = {sample_of(i), sample_of(std::min(i + 1, count - 1))};
    std::int64_t* const to_sums = sums + changes[i].to * layout.features;
    if (was_unlabelled(changes[i])) {
      move_group<1, false>(samples, samples + 1, layout, nullptr, to_sums);
    } else {
      move_group<1, true>(samples, samples + 1, layout, sums + changes[i].from * layout.features,
                          to_sums);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#endif
