// Sums of samples with few features, by runs of equal label changes. Included once per instruction
// set, after vector_targets.hpp.
#if defined(LLOYD_OPENMP_SUM_RUNS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LLOYD_OPENMP_SUM_RUNS_INL_HPP
#undef LLOYD_OPENMP_SUM_RUNS_INL_HPP
#else
#define LLOYD_OPENMP_SUM_RUNS_INL_HPP
#endif

#include <cstddef>
#include <cstdint>
#include <numeric>

#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "common/vectors-inl.hpp"
#include "sums/sum_limbs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// A run: consecutive samples with the same change. They are summed in registers. If each sample
// were added to the sums in memory, it would have to wait for the stores of the previous one.

constexpr std::int64_t kMaxRunFeatures = 3;
// Shorter runs are as fast sample by sample. A minimum of 3 or 6 made no difference.
constexpr std::int64_t kMinRunSamples = 4;

// SumLayout's scales and quanta, repeated over the smallest number of vectors that holds a whole
// number of samples. A given lane then always has the same feature.
template <std::size_t D>
struct RunVectors {
  static constexpr std::size_t kVectorValues = hn::MaxLanes(Reals<8>());
  static constexpr std::size_t kPeriodVectors = D / std::gcd(D, kVectorValues);
  static constexpr std::size_t kPeriodValues = kPeriodVectors * kVectorValues;

  HWY_INLINE explicit RunVectors(const lloyd::SumLayout& layout)
      : limbs(static_cast<std::size_t>(layout.limbs)) {
    for (std::size_t at = 0; at < limbs * kPeriodValues; ++at) {
      const std::size_t from = at / kPeriodValues * D + at % D;
      scales[at] = layout.scales[from];
      quanta[at] = layout.quanta[from];
    }
  }

  std::size_t limbs;
  alignas(64) double scales[3 * kPeriodValues], quanta[3 * kPeriodValues];
};

// Moves `count` samples of D features from x on. `from_sums` is null if they had no label.
// SumLayout::narrow needs no test: with several limbs, the only block contains the widest feature
// and so is not narrow.
template <std::size_t Limbs, std::size_t D, class T>
HWY_INLINE void move_run(const T* x, std::int64_t count, const RunVectors<D>& vectors,
                         std::int64_t limb_stride, std::int64_t* from_sums, std::int64_t* to_sums) {
  constexpr std::size_t kVectorValues = RunVectors<D>::kVectorValues,
                        kPeriodVectors = RunVectors<D>::kPeriodVectors,
                        kPeriodValues = RunVectors<D>::kPeriodValues;
  const Reals<8> reals;
  const Integers<8> integers;
  const auto magic = hn::Set(reals, lloyd::SumLayout::kRoundingMagic);
  hn::Vec<decltype(integers)> sums[Limbs][kPeriodVectors];
  unroll<Limbs>([&](auto limb) HWY_ATTR {
    unroll<kPeriodVectors>([&](auto v) HWY_ATTR { sums[limb][v] = hn::Zero(integers); });
  });
  const auto add = [&](const T* values) HWY_ATTR {
    unroll<kPeriodVectors>([&](auto v) HWY_ATTR {
      auto remainder = load(reals, values + v * kVectorValues);
      unroll<Limbs>([&](auto from_top) HWY_ATTR {
        constexpr std::size_t kLimb = Limbs - 1 - decltype(from_top)::value;
        const std::size_t at = kLimb * kPeriodValues + v * kVectorValues;
        const auto biased = hn::MulAdd(remainder, hn::Load(reals, vectors.scales + at), magic);
        sums[kLimb][v] = hn::Add(
            sums[kLimb][v], hn::Sub(hn::BitCast(integers, biased), hn::BitCast(integers, magic)));
        if constexpr (kLimb > 0) {
          const auto quanta = hn::Load(reals, vectors.quanta + at);
          remainder = hn::NegMulAdd(hn::Sub(biased, magic), quanta, remainder);
        }
      });
    });
  };
  const std::size_t values = static_cast<std::size_t>(count) * D;
  std::size_t done = 0;
  for (; done + kPeriodValues <= values; done += kPeriodValues) add(x + done);
  if (done < values) {
    T last[kPeriodValues] = {};  // all limbs of 0 are 0
    for (std::size_t i = 0; done < values; ++i, ++done) last[i] = x[done];
    add(last);
  }
  for (std::size_t limb = 0; limb < Limbs; ++limb) {
    alignas(64) std::int64_t lane_sums[kPeriodValues];
    for (std::size_t v = 0; v < kPeriodVectors; ++v) {
      hn::Store(sums[limb][v], integers, lane_sums + v * kVectorValues);
    }
    for (std::size_t j = 0; j < D; ++j) {
      std::int64_t sum = 0;
      for (std::size_t i = j; i < kPeriodValues; i += D) sum += lane_sums[i];
      const std::size_t at = limb * static_cast<std::size_t>(limb_stride) + j;
      to_sums[at] += sum;
      if (from_sums != nullptr) from_sums[at] -= sum;
    }
  }
}

template <std::size_t D, class T>
HWY_NOINLINE HWY_FLATTEN void move_run_limbs(const T* x, std::int64_t count,
                                             const RunVectors<D>& vectors, std::int64_t limb_stride,
                                             std::int64_t* from_sums, std::int64_t* to_sums) {
  if (vectors.limbs == 1) {
    move_run<1>(x, count, vectors, limb_stride, from_sums, to_sums);
  } else if (vectors.limbs == 2) {
    move_run<2>(x, count, vectors, limb_stride, from_sums, to_sums);
  } else {
    move_run<3>(x, count, vectors, limb_stride, from_sums, to_sums);
  }
}

// Length of the run that begins with changes[0].
HWY_INLINE std::int64_t run_length(const lloyd::LabelChange* changes, std::int64_t count) {
  const lloyd::LabelChange first = changes[0];
  std::int64_t length = 1;
  while (length < count && changes[length].row == first.row + length &&
         changes[length].from == first.from && changes[length].to == first.to) {
    ++length;
  }
  return length;
}

template <std::size_t D, class T>
HWY_INLINE void move_runs(const T* data, const lloyd::LabelChange* changes, std::int64_t count,
                          const lloyd::SumLayout& layout, std::int64_t* sums,
                          std::int64_t* counts) {
  constexpr auto kFeatures = static_cast<std::int64_t>(D);
  const RunVectors<D> vectors(layout);
  while (count > 0) {
    const auto [row, from, to] = changes[0];
    const std::int64_t length = run_length(changes, count);
    std::int64_t* const to_sums = sums + to * kFeatures;
    std::int64_t* const from_sums = from < 0 ? nullptr : sums + from * kFeatures;
    counts[to] += length;
    if (from_sums != nullptr) counts[from] -= length;
    const T* const x = data + row * kFeatures;
    if (length >= kMinRunSamples) {
      move_run_limbs<D>(x, length, vectors, layout.limb_stride, from_sums, to_sums);
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        move_sample(x + i * kFeatures, layout, from_sums, to_sums, 0, kFeatures);
      }
    }
    changes += length;
    count -= length;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#endif
