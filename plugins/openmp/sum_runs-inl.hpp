// Sums of few features. Included once for each instruction set, after vector_targets.hpp.
#if defined(LLOYD_OPENMP_SUM_RUNS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LLOYD_OPENMP_SUM_RUNS_INL_HPP
#undef LLOYD_OPENMP_SUM_RUNS_INL_HPP
#else
#define LLOYD_OPENMP_SUM_RUNS_INL_HPP
#endif

#include <cstddef>
#include <cstdint>
#include <numeric>

#include <lloyd/plugin/cluster_sums.hpp>

#include "leading-inl.hpp"
#include "sum_parts-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

// Samples that stand one after another and move together, from and to the same clusters: a run, not
// to be mistaken for SumLayout's of features. They are added up in registers; one by one each would
// wait for the sums that the one before has written.

constexpr std::int64_t kMostFeaturesOfRuns = 3;
// Fewer take as long one by one; 3 and 6 made no difference to each other.
constexpr std::int64_t kLeastSamplesOfRun = 4;

// The fewest vectors that hold whole samples of D features, so that a place in them is always of
// the same feature, and SumLayout's scales and quanta of these.
template <std::size_t D>
struct RunVectors {
  static constexpr std::size_t kWidth = hn::MaxLanes(Reals<8>());
  static constexpr std::size_t kVectorsOfSamples = D / std::gcd(D, kWidth);
  static constexpr std::size_t kValues = kVectorsOfSamples * kWidth;

  HWY_INLINE explicit RunVectors(const lloyd::SumLayout& layout)
      : lanes(static_cast<std::size_t>(layout.lanes)) {
    for (std::size_t at = 0; at < lanes * kValues; ++at) {
      const std::size_t from = at / kValues * D + at % D;
      scales[at] = layout.scales[from];
      quanta[at] = layout.quanta[from];
    }
  }

  std::size_t lanes;  // that values have parts in
  alignas(64) double scales[3 * kValues], quanta[3 * kValues];
};

// `count` samples of D features from x on; `leaves` is null where they had no cluster. The sums of
// a lane stand `apart` after those of the one below. SumLayout::narrow need not be asked: where
// there are several lanes, so few features are not narrow.
template <std::size_t Lanes, std::size_t D, class T>
HWY_INLINE void move_run(const T* x, std::int64_t count, const RunVectors<D>& vectors,
                         std::int64_t apart, std::int64_t* leaves, std::int64_t* enters) {
  constexpr std::size_t kWidth = RunVectors<D>::kWidth,
                        kVectorsOfSamples = RunVectors<D>::kVectorsOfSamples,
                        kValues = RunVectors<D>::kValues;
  const Reals<8> reals;
  const Integers<8> integers;
  const auto shift = hn::Set(reals, lloyd::SumLayout::kShift);
  hn::Vec<decltype(integers)> sums[Lanes][kVectorsOfSamples];
  unroll<Lanes>([&](auto lane) HWY_ATTR {
    unroll<kVectorsOfSamples>([&](auto v) HWY_ATTR { sums[lane][v] = hn::Zero(integers); });
  });
  const auto add = [&](const T* values) HWY_ATTR {
    unroll<kVectorsOfSamples>([&](auto v) HWY_ATTR {
      auto rest = load(reals, values + v * kWidth);
      unroll<Lanes>([&](auto below) HWY_ATTR {
        constexpr std::size_t kLane = Lanes - 1 - decltype(below)::value;
        const std::size_t at = kLane * kValues + v * kWidth;
        const auto shifted = hn::MulAdd(rest, hn::Load(reals, vectors.scales + at), shift);
        sums[kLane][v] = hn::Add(
            sums[kLane][v], hn::Sub(hn::BitCast(integers, shifted), hn::BitCast(integers, shift)));
        if constexpr (kLane > 0) {
          const auto quanta = hn::Load(reals, vectors.quanta + at);
          rest = hn::NegMulAdd(hn::Sub(shifted, shift), quanta, rest);
        }
      });
    });
  };
  const std::size_t values = static_cast<std::size_t>(count) * D;
  std::size_t done = 0;
  for (; done + kValues <= values; done += kValues) add(x + done);
  if (done < values) {
    T last[kValues] = {};  // all parts of 0 are 0
    for (std::size_t i = 0; done < values; ++i, ++done) last[i] = x[done];
    add(last);
  }
  for (std::size_t lane = 0; lane < Lanes; ++lane) {
    alignas(64) std::int64_t parts[kValues];
    for (std::size_t v = 0; v < kVectorsOfSamples; ++v) {
      hn::Store(sums[lane][v], integers, parts + v * kWidth);
    }
    for (std::size_t j = 0; j < D; ++j) {
      std::int64_t sum = 0;
      for (std::size_t i = j; i < kValues; i += D) sum += parts[i];
      const std::size_t at = lane * static_cast<std::size_t>(apart) + j;
      enters[at] += sum;
      if (leaves != nullptr) leaves[at] -= sum;
    }
  }
}

template <std::size_t D, class T>
HWY_NOINLINE HWY_FLATTEN void move_run_of(const T* x, std::int64_t count,
                                          const RunVectors<D>& vectors, std::int64_t apart,
                                          std::int64_t* leaves, std::int64_t* enters) {
  if (vectors.lanes == 1) {
    move_run<1>(x, count, vectors, apart, leaves, enters);
  } else if (vectors.lanes == 2) {
    move_run<2>(x, count, vectors, apart, leaves, enters);
  } else {
    move_run<3>(x, count, vectors, apart, leaves, enters);
  }
}

// How many changes from the first one on are of samples that stand one after another, from and to
// the same clusters.
HWY_INLINE std::int64_t length_of_run(const lloyd::LabelChange* changes, std::int64_t count) {
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
    const std::int64_t length = length_of_run(changes, count);
    std::int64_t* const enters = sums + to * kFeatures;
    std::int64_t* const leaves = from < 0 ? nullptr : sums + from * kFeatures;
    counts[to] += length;
    if (leaves != nullptr) counts[from] -= length;
    const T* const x = data + row * kFeatures;
    if (length >= kLeastSamplesOfRun) {
      move_run_of<D>(x, length, vectors, layout.apart, leaves, enters);
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        move_sample(x + i * kFeatures, layout, leaves, enters, 0, kFeatures);
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
