// Exact sums of the samples of each cluster (compensated if the sums need more than 127 bits or the
// exponents are out of range).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/abi/requests.hpp>

namespace lloyd {

/// A 128-bit integer, two's complement.
__extension__ typedef __int128 Int128;

/// Converts to double, rounding to nearest. Magnitudes below 2^105 take a few instructions and one
/// predictable branch; the compiler's conversion takes several times as long.
inline double to_double(Int128 value) {
  constexpr std::int64_t kPart = std::int64_t{1} << 53;
  constexpr std::int64_t kTop = std::int64_t{1} << (105 - 64);
  const auto top = static_cast<std::int64_t>(value >> 64);
  if (top < -kTop || top >= kTop) return static_cast<double>(value);
  // Both parts are exact in double, so that only their sum is rounded.
  return static_cast<double>(static_cast<std::int64_t>(value >> 53)) * 0x1p53 +
         static_cast<double>(static_cast<std::int64_t>(value) & (kPart - 1));
}

/// Splits an integer into limbs and adds them to those of a sum, `stride` elements apart. It must
/// fit, sign included, in count * bits bits. constexpr so that CUDA kernels can call it too
/// (--expt-relaxed-constexpr).
constexpr void add_limbs(Int128 value, const SumLimbs& limbs, std::int64_t* sums,
                         std::size_t stride) {
  const auto mask = (std::uint64_t{1} << limbs.bits) - 1;
  if (limbs.count == 2) {  // the common case: shifts of 64 bits only
    const auto low = static_cast<std::uint64_t>(value);
    const auto high = static_cast<std::uint64_t>(value >> 64);
    sums[0] += static_cast<std::int64_t>(low & mask);
    sums[stride] += static_cast<std::int64_t>(high << (64 - limbs.bits) | low >> limbs.bits);
    return;
  }
  for (int limb = 0; limb + 1 < limbs.count; ++limb, sums += stride) {
    *sums += static_cast<std::int64_t>(static_cast<std::uint64_t>(value) & mask);
    value >>= limbs.bits;
  }
  *sums += static_cast<std::int64_t>(value);
}

/// How the features of a data set are summed. Every value of feature j is an integer multiple of
/// 2^quantum_exponents[j], so sums are integers, independent of order and free of rounding. A value
/// is split into `limbs` integers of `limb_bits` bits. Each limb is summed in a 64-bit word for up
/// to `flush_rows` rows, and then added to 128-bit totals. ClusterSums may use a wider lowest limb
/// for narrow features and then flushes earlier; see find_narrow_blocks().
struct SumPlan {
  SumForm form = SumForm::integer64;   ///< integers of one or two words, or compensated float64
  int limbs = 1;                       ///< integers that a value is split into: 1 to 3
  int limb_bits = 0;                   ///< bits of each limb
  std::int64_t flush_rows = 0;         ///< rows whose limbs a 64-bit word can sum
  std::int64_t features = 0;           ///< d
  std::vector<int> quantum_exponents;  ///< per feature
  std::vector<int> value_bits;         ///< per feature: bits of the largest |value| / quantum
  std::vector<double> scales;          ///< limbs x features: 1 / quanta
  std::vector<double> quanta;          ///< limbs x features: the value of a 1 in this limb

  /// The plan for a data set. Views of parts of one data set have the same plan, since it depends
  /// only on the statistics of the whole.
  static SumPlan make(const DatasetView& dataset) {
    // Allowed range: quantum exponent >= kLowestExponent, magnitudes below 2^kHighestExponent. In
    // it scales, quanta and all intermediate values are exact in float64. The margin below 2^1023
    // is for the top limb: all features have as many limbs as the widest one, so the quantum of the
    // top limb can be up to 2^127 times the feature's own.
    constexpr int kLowestExponent = -960;
    constexpr int kHighestExponent = 890;
    SumPlan plan;
    plan.features = dataset.features;
    int value_bits = 0;
    bool in_range = true;
    for (std::int64_t j = 0; j < dataset.features; ++j) {
      const FeatureStatistics& feature = dataset.statistics[j];
      plan.quantum_exponents.push_back(feature.quantum_exponent);
      const double largest = std::max(std::abs(feature.minimum), std::abs(feature.maximum));
      plan.value_bits.push_back(0);
      if (largest == 0) continue;
      const int top = std::ilogb(largest) + 1;
      plan.value_bits.back() = top - feature.quantum_exponent;
      value_bits = std::max(value_bits, plan.value_bits.back());
      in_range &= feature.quantum_exponent >= kLowestExponent && top <= kHighestExponent;
    }
    const int count_bits =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(dataset.total_samples)));
    const int sum_bits = value_bits + count_bits + 1;
    if (!in_range || sum_bits > 127) {
      plan.form = SumForm::compensated;
      return plan;
    }
    plan.form = sum_bits <= 63 ? SumForm::integer64 : SumForm::integer128;
    plan.limbs = std::max(1, (value_bits + kMaxLimbBits - 1) / kMaxLimbBits);
    plan.limb_bits = (value_bits + plan.limbs - 1) / plan.limbs;
    plan.flush_rows = std::int64_t{1} << (62 - plan.limb_bits);
    for (int limb = 0; limb < plan.limbs; ++limb) {
      for (const int exponent : plan.quantum_exponents) {
        plan.scales.push_back(std::ldexp(1.0, -(exponent + limb * plan.limb_bits)));
        plan.quanta.push_back(std::ldexp(1.0, exponent + limb * plan.limb_bits));
      }
    }
    return plan;
  }

  /// True if sums are integers: exact, and independent of order.
  bool is_integer() const { return form != SumForm::compensated; }

  /// Maximum number of bits of a limb.
  static constexpr int kMaxLimbBits = 50;

  /// Maximum bytes of ClusterSums per cluster and feature: three limbs and a total.
  static constexpr double kMaxBytesPerCell = 3 * 8 + 16;
};

/// How SumKernels split values into limbs, and the layout of the limb sums.
struct SumLayout {
  /// Adding it to a float64 of magnitude below 2^51 rounds to the nearest integer and leaves that
  /// integer in the low bits. A single SIMD addition converts a vector of values, on every
  /// instruction set.
  static constexpr double kRoundingMagic = 0x1.8p52;

  /// Number of narrow values, see `narrow`, that may be added before rounding: their sum stays
  /// below 2^51.
  static constexpr int kMaxPresummed = 4;
  /// Maximum number of bits of narrow values, see `narrow`.
  static constexpr int kMaxNarrowBits = 49;
  static_assert((std::int64_t{kMaxPresummed} << kMaxNarrowBits) <= std::int64_t{1} << 51);

  /// Features per entry of `narrow`.
  static constexpr std::int64_t kFeatureBlock = 8;

  const double* scales;  ///< limbs x features
  const double* quanta;  ///< limbs x features
  /// Per block of kFeatureBlock features, 1 if the values fit the lowest limb alone and have at
  /// most kMaxNarrowBits bits. Kernels may then skip the other limbs and add the values of
  /// kMaxPresummed samples before rounding: how a value is split does not matter, as long as the
  /// weighted sum of its limbs equals it.
  const std::uint8_t* narrow;
  std::int64_t features;     ///< d
  std::int64_t limbs;        ///< 1 to 3
  std::int64_t clusters;     ///< k
  std::int64_t limb_stride;  ///< distance between the sums of consecutive limbs, in elements

  /// Calls use(at, limb) for all limbs of x from feature `first` on: add `limb` to sums[at], where
  /// `sums` points to feature 0 of the sample's cluster. From the highest limb down, x * scale +
  /// kRoundingMagic yields the rounded limb, and limb * quantum is subtracted from x.
  template <class T, class Use>
  void for_each_limb(const T* x, const Use& use, std::int64_t first = 0) const {
    if (limbs == 1) {
      for_each_limb_of<1>(x, use, first);
    } else if (limbs == 2) {
      for_each_limb_of<2>(x, use, first);
    } else {
      for_each_limb_of<3>(x, use, first);
    }
  }

 private:
  template <int Limbs, class T, class Use>
  void for_each_limb_of(const T* x, const Use& use, std::int64_t first) const {
    for (std::int64_t j = first; j < features; ++j) {
      double rest = static_cast<double>(x[j]);
      for (int limb = Limbs - 1; limb >= 0; --limb) {
        const double biased = rest * scales[limb * features + j] + kRoundingMagic;
        use(limb * limb_stride + j,
            std::bit_cast<std::int64_t>(biased) - std::bit_cast<std::int64_t>(kRoundingMagic));
        if (limb > 0) rest -= (biased - kRoundingMagic) * quanta[limb * features + j];
      }
    }
  }
};

/// A sample whose label changed.
struct LabelChange {
  std::int64_t row;   ///< row, relative to the `data` passed with it
  std::int32_t from;  ///< former cluster; -1: none
  std::int32_t to;    ///< new cluster
};

/// Kernels that replace the loops of ClusterSums, for instruction sets that the plugin selects at
/// run time. Sample i is at data + i*stride; the sums of cluster c begin at sums + c*features, its
/// count is counts[c]; the kernels update both. A call never has more rows than 64-bit limbs can
/// sum. Null: ClusterSums uses its own loops.
template <class T>
struct SumKernels {
  /// Adds `rows` samples; sample i belongs to cluster labels[i].
  void (*add)(const T* data, std::int64_t stride, std::int64_t rows, const std::int32_t* labels,
              const SumLayout& layout, std::int64_t* sums, std::int64_t* counts) = nullptr;
  /// Moves `count` samples, some of which may have had no label. The sample of changes[i] is at
  /// data + changes[i].row * stride.
  void (*move)(const T* data, std::int64_t stride, const LabelChange* changes, std::int64_t count,
               const SumLayout& layout, std::int64_t* sums, std::int64_t* counts) = nullptr;
};

/// Sums and counts of k clusters, one object per worker; merge() combines them.
class ClusterSums {
 public:
  /// `plan` must outlive the sums.
  ClusterSums(const SumPlan& plan, std::int64_t clusters)
      : plan_(&plan), counts_(static_cast<std::size_t>(clusters)) {
    const auto cells = static_cast<std::size_t>(clusters * plan.features);
    if (plan.is_integer()) {
      limbs_.resize(cells * static_cast<std::size_t>(plan.limbs));
      totals_.resize(cells);
      find_narrow_blocks();
    } else {
      values_.resize(cells);
      corrections_.resize(cells);
    }
  }

  /// k.
  std::int64_t clusters() const { return static_cast<std::int64_t>(counts_.size()); }

  /// True if sums are integers: exact, and independent of order.
  bool is_integer() const { return plan_->is_integer(); }

  /// Sets all sums and counts to zero.
  void clear() {
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(limbs_.begin(), limbs_.end(), 0);
    std::fill(totals_.begin(), totals_.end(), 0);
    std::fill(values_.begin(), values_.end(), 0.0);
    std::fill(corrections_.begin(), corrections_.end(), 0.0);
    rows_since_flush_ = 0;
  }

  /// Adds `rows` samples: sample i is at `data + i*stride` and belongs to cluster `labels[i]`. The
  /// compensated form requires all rows in ascending order.
  template <class T>
  void add(const T* data, std::int64_t stride, std::int64_t rows, const std::int32_t* labels,
           const SumKernels<T>& kernels = {}) {
    if (!plan_->is_integer()) {
      for (std::int64_t i = 0; i < rows; ++i) add_compensated(data + i * stride, labels[i]);
      return;
    }
    while (rows > 0) {
      const std::int64_t part = std::min(rows, flush_rows_ - rows_since_flush_);
      if (kernels.add != nullptr) {
        kernels.add(data, stride, part, labels, layout(), limbs_.data(), counts_.data());
      } else {
        for (std::int64_t i = 0; i < part; ++i) move_limbs(data + i * stride, -1, labels[i]);
      }
      rows_since_flush_ += part;
      if (rows_since_flush_ == flush_rows_) flush();
      data += part * stride;
      labels += part;
      rows -= part;
    }
  }

  /// Moves one sample from cluster `from` (-1: none) to cluster `to`. If another worker's sums hold
  /// the sample, counts here can be negative until merge(). Integer forms only.
  template <class T>
  void move(const T* sample, std::int32_t from, std::int32_t to) {
    move_limbs(sample, from, to);
    if (++rows_since_flush_ == flush_rows_) flush();
  }

  /// Moves `count` samples. The sample of changes[i] is at data + changes[i].row * stride.
  template <class T>
  void move(const T* data, std::int64_t stride, const LabelChange* changes, std::int64_t count,
            const SumKernels<T>& kernels) {
    while (count > 0) {
      const std::int64_t part = std::min(count, flush_rows_ - rows_since_flush_);
      if (kernels.move != nullptr) {
        kernels.move(data, stride, changes, part, layout(), limbs_.data(), counts_.data());
      } else {
        for (std::int64_t i = 0; i < part; ++i) {
          move_limbs(data + changes[i].row * stride, changes[i].from, changes[i].to);
        }
      }
      rows_since_flush_ += part;
      if (rows_since_flush_ == flush_rows_) flush();
      changes += part;
      count -= part;
    }
  }

  /// Adds another worker's sums of the same plan. Integer forms only.
  void merge(ClusterSums& other) {
    flush();
    other.flush();
    for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i] += other.totals_[i];
    for (std::size_t c = 0; c < counts_.size(); ++c) counts_[c] += other.counts_[c];
  }

  /// Number of samples of a cluster.
  std::int64_t count(std::int64_t cluster) const {
    return counts_[static_cast<std::size_t>(cluster)];
  }

  /// Writes the mean of a cluster with a count > 0 to `centroid` (d): each sum is rounded once to
  /// float64, then divided.
  void mean(std::int64_t cluster, double* centroid) {
    flush();
    const auto count = static_cast<double>(counts_[static_cast<std::size_t>(cluster)]);
    for (std::int64_t j = 0; j < plan_->features; ++j) {
      const std::size_t at = cell(cluster, j);
      // The quantum is a power of two, so that the product is rounded as std::ldexp() would be.
      const double sum = plan_->is_integer()
                             ? to_double(totals_[at]) * plan_->quanta[static_cast<std::size_t>(j)]
                             : values_[at] + corrections_[at];
      centroid[j] = sum / count;
    }
  }

  /// Resumes from words that store() wrote under the same plan. Null arrays count as zeros, and
  /// store() does not write them.
  void load(const SumWords* words, const std::int64_t* counts) {
    if (words == nullptr) {
      clear();
    } else if (rows_since_flush_ != 0) {
      std::fill(limbs_.begin(), limbs_.end(), 0);
      rows_since_flush_ = 0;
    }
    if (counts != nullptr) {
      std::copy_n(counts, clusters(), counts_.begin());
    } else {
      std::fill(counts_.begin(), counts_.end(), 0);
    }
    if (words == nullptr) return;
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      totals_[i] = static_cast<Int128>(words[i].high) << 64 | words[i].low;
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = std::bit_cast<double>(words[i].low);
      corrections_[i] = std::bit_cast<double>(words[i].high);
    }
  }

  /// Writes the sums (k x d words) and the counts (k); null arrays are skipped.
  void store(SumWords* words, std::int64_t* counts) {
    flush();
    if (counts != nullptr) std::copy(counts_.begin(), counts_.end(), counts);
    if (words == nullptr) return;
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      words[i] = {static_cast<std::uint64_t>(totals_[i]),
                  static_cast<std::uint64_t>(totals_[i] >> 64)};
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      words[i] = {std::bit_cast<std::uint64_t>(values_[i]),
                  std::bit_cast<std::uint64_t>(corrections_[i])};
    }
  }

  /// Adds the sums (limbs x k x d) and the counts (k) to arrays of the caller; null arrays are
  /// skipped. Sums, with their sign, must fit in SumLimbs::count * SumLimbs::bits bits. Integer
  /// forms only.
  void add_to(const SumLimbs& limbs, std::int64_t* sums, std::int64_t* counts) {
    flush();
    for (std::size_t c = 0; counts != nullptr && c < counts_.size(); ++c) counts[c] += counts_[c];
    if (sums == nullptr) return;
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      add_limbs(totals_[i], limbs, sums + i, totals_.size());
    }
  }

 private:
  std::size_t cell(std::int64_t cluster, std::int64_t feature) const {
    return static_cast<std::size_t>(cluster * plan_->features + feature);
  }

  // Features with values near zero have small quanta and hence many bits, and SumPlan gives all
  // features as many limbs as the widest. Features that fit one wide lowest limb can skip the
  // others. The width is capped so that it forces no flush within kRowsPerCluster x k rows.
  void find_narrow_blocks() {
    constexpr std::int64_t kRowsPerCluster = 256;
    const auto rows = static_cast<std::uint64_t>(kRowsPerCluster * clusters());
    const int flush_bits =
        plan_->limbs == 1 ? plan_->limb_bits : 62 - static_cast<int>(std::bit_width(rows));
    const int narrow_bits = std::min(SumLayout::kMaxNarrowBits, flush_bits);
    flush_rows_ = plan_->flush_rows;
    narrow_.assign(static_cast<std::size_t>((plan_->features + SumLayout::kFeatureBlock - 1) /
                                            SumLayout::kFeatureBlock),
                   1);
    int widest = 0;
    for (std::size_t block = 0; block < narrow_.size(); ++block) {
      const auto begin =
          plan_->value_bits.begin() + static_cast<std::ptrdiff_t>(block) * SumLayout::kFeatureBlock;
      const auto left = plan_->value_bits.end() - begin;
      const int block_bits = *std::max_element(
          begin, begin + std::min<std::ptrdiff_t>(left, SumLayout::kFeatureBlock));
      narrow_[block] = block_bits <= narrow_bits ? 1 : 0;
      if (block_bits <= narrow_bits) widest = std::max(widest, block_bits);
    }
    flush_rows_ = std::min(flush_rows_, std::int64_t{1} << (62 - widest));
  }

  SumLayout layout() const {
    return {plan_->scales.data(),
            plan_->quanta.data(),
            narrow_.data(),
            plan_->features,
            plan_->limbs,
            clusters(),
            static_cast<std::int64_t>(totals_.size())};
  }

  template <class T>
  void move_limbs(const T* x, std::int32_t from, std::int32_t to) {
    std::int64_t* const to_sums = limbs_.data() + cell(to, 0);
    ++counts_[static_cast<std::size_t>(to)];
    if (from < 0) {
      layout().for_each_limb(
          x, [to_sums](std::int64_t at, std::int64_t limb) { to_sums[at] += limb; });
      return;
    }
    std::int64_t* const from_sums = limbs_.data() + cell(from, 0);
    --counts_[static_cast<std::size_t>(from)];
    layout().for_each_limb(x, [from_sums, to_sums](std::int64_t at, std::int64_t limb) {
      from_sums[at] -= limb;
      to_sums[at] += limb;
    });
  }

  // Neumaier's summation: the correction accumulates the rounding error of each addition.
  template <class T>
  void add_compensated(const T* x, std::int32_t label) {
    for (std::int64_t j = 0; j < plan_->features; ++j) {
      const auto value = static_cast<double>(x[j]);
      double& sum = values_[cell(label, j)];
      const double next = sum + value;
      corrections_[cell(label, j)] +=
          std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
      sum = next;
    }
    ++counts_[static_cast<std::size_t>(label)];
  }

  void flush() {
    if (rows_since_flush_ == 0) return;
    rows_since_flush_ = 0;
    const std::size_t cells = totals_.size();
    for (int limb = 0; limb < plan_->limbs; ++limb) {
      const Int128 weight = static_cast<Int128>(1) << (limb * plan_->limb_bits);
      std::int64_t* sums = limbs_.data() + static_cast<std::size_t>(limb) * cells;
      for (std::size_t i = 0; i < cells; ++i) {
        totals_[i] += sums[i] * weight;
        sums[i] = 0;
      }
    }
  }

  const SumPlan* plan_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> limbs_;  // limbs x clusters x features
  std::vector<Int128> totals_;       // clusters x features, as are the two below
  std::vector<double> values_;
  std::vector<double> corrections_;
  std::vector<std::uint8_t> narrow_;  // SumLayout::narrow
  std::int64_t flush_rows_ = 0;
  std::int64_t rows_since_flush_ = 0;
};

}  // namespace lloyd
