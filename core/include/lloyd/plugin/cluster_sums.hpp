// Sums of samples per cluster, exact where two 64-bit words allow it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <lloyd/plugin/dataset_view.hpp>
#include <lloyd/plugin/fit.hpp>

namespace lloyd {

/// A 128-bit integer, two's complement.
__extension__ typedef __int128 Int128;

/// How the features of a data set are summed. Every value of feature j is an integer multiple of
/// 2^quantum_exponent(j), so sums are integers: free of order and of rounding. A value is split
/// into `lanes` integers of `lane_bits` bits, each of which is summed in one 64-bit word for
/// `flush_rows` rows and then moved into 128-bit totals.
struct SumPlan {
  SumForm form = SumForm::integer64;   ///< integers of one or two words, or compensated float64
  int lanes = 1;                       ///< integers that a value is split into
  int lane_bits = 0;                   ///< bits of each of them
  std::int64_t flush_rows = 0;         ///< rows that 64 bits hold the lanes of
  std::int64_t features = 0;           ///< d
  std::vector<int> quantum_exponents;  ///< per feature
  std::vector<int> value_bits;         ///< per feature: bits of its greatest multiple
  std::vector<double> scales;          ///< lanes x features: 1 / quantum of the lane
  std::vector<double> quanta;          ///< lanes x features

  /// The plan for a data set, or for the larger one that it is a part of.
  static SumPlan make(const DatasetView& dataset) {
    // float64 can scale by 2^-e and hold every intermediate value only well inside its own range.
    // The quantum of a feature's top lane may lie up to 127 bits (another feature's) above its own.
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
    plan.lanes = std::max(1, (value_bits + kWidestLane - 1) / kWidestLane);
    plan.lane_bits = (value_bits + plan.lanes - 1) / plan.lanes;
    plan.flush_rows = std::int64_t{1} << (62 - plan.lane_bits);
    for (int lane = 0; lane < plan.lanes; ++lane) {
      for (const int exponent : plan.quantum_exponents) {
        plan.scales.push_back(std::ldexp(1.0, -(exponent + lane * plan.lane_bits)));
        plan.quanta.push_back(std::ldexp(1.0, exponent + lane * plan.lane_bits));
      }
    }
    return plan;
  }

  /// Whether sums are integers: exact, and free of order.
  bool is_integer() const { return form != SumForm::compensated; }

  /// Most bits of a lane.
  static constexpr int kWidestLane = 50;

  /// Bytes that ClusterSums hold at the most for each cluster and feature: three lanes and a total.
  static constexpr double kMostBytesPerCell = 3 * 8 + 16;
};

/// Where the parts of a sample's values are summed.
struct SumLayout {
  /// Added to an integer below 2^51 it has that integer in its lower bits: unlike a conversion that
  /// takes one instruction for several values on any machine.
  static constexpr double kShift = 0x1.8p52;

  /// Values of narrow features that may be added up before: kShift takes their sum as well.
  static constexpr int kAtOnce = 4;
  /// Most bits of these values.
  static constexpr int kNarrowBits = 49;
  static_assert((std::int64_t{kAtOnce} << kNarrowBits) <= std::int64_t{1} << 51);

  /// Features that `narrow` has one entry for.
  static constexpr std::int64_t kRun = 8;

  const double* scales;  ///< lanes x features
  const double* quanta;  ///< lanes x features
  /// Of each run of features whether the lowest lane has room for whole values, and these have no
  /// more than kNarrowBits. Kernels may leave the other lanes out there, and add up the values of
  /// kAtOnce samples before: what counts is the weighted sum of all lanes.
  const std::uint8_t* narrow;
  std::int64_t features;  ///< d
  std::int64_t lanes;     ///< 1 to 3
  std::int64_t clusters;  ///< k
  std::int64_t apart;     ///< sums of one lane stand so many integers after those of the one below

  /// Calls use(at, part) for all parts of x from feature `first` on; sums[at] are where they
  /// belong. From the highest lane down x * scale + kShift has the lane's part, rounded, and part *
  /// quantum is taken out of x.
  template <class T, class Use>
  void for_each_part(const T* x, const Use& use, std::int64_t first = 0) const {
    if (lanes == 1) {
      for_each_part_in<1>(x, use, first);
    } else if (lanes == 2) {
      for_each_part_in<2>(x, use, first);
    } else {
      for_each_part_in<3>(x, use, first);
    }
  }

 private:
  template <int Lanes, class T, class Use>
  void for_each_part_in(const T* x, const Use& use, std::int64_t first) const {
    for (std::int64_t j = first; j < features; ++j) {
      double rest = static_cast<double>(x[j]);
      for (int lane = Lanes - 1; lane >= 0; --lane) {
        const double shifted = rest * scales[lane * features + j] + kShift;
        use(lane * apart + j,
            std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(kShift));
        if (lane > 0) rest -= (shifted - kShift) * quanta[lane * features + j];
      }
    }
  }
};

/// A sample leaves a cluster for another one.
struct LabelChange {
  std::int64_t row;   ///< of the data set
  std::int32_t from;  ///< -1: it had none
  std::int32_t to;    ///< its cluster from now on
};

/// Loops over samples that a step may bring its own of, for wider vectors than the plugin is
/// compiled for. Sample i is at data + i*stride, the sums of cluster c are from sums + c*features
/// on, its count is counts[c]: the loops change both. They are never given more rows than 64 bits
/// hold the parts of. Null: the loops of ClusterSums.
template <class T>
struct SumKernels {
  /// Adds `rows` samples; sample i is of cluster labels[i].
  void (*add)(const T* data, std::int64_t stride, std::int64_t rows, const std::int32_t* labels,
              const SumLayout& layout, std::int64_t* sums, std::int64_t* counts) = nullptr;
  /// Moves `count` samples, of which some may come from no cluster.
  void (*move)(const T* data, std::int64_t stride, const LabelChange* changes, std::int64_t count,
               const SumLayout& layout, std::int64_t* sums, std::int64_t* counts) = nullptr;
};

/// Sums and counts of k clusters. One per worker; `merge` adds them up.
class ClusterSums {
 public:
  /// `plan` must outlive the sums.
  ClusterSums(const SumPlan& plan, std::int64_t clusters)
      : plan_(&plan), counts_(static_cast<std::size_t>(clusters)) {
    const auto cells = static_cast<std::size_t>(clusters * plan.features);
    if (plan.is_integer()) {
      lanes_.resize(cells * static_cast<std::size_t>(plan.lanes));
      totals_.resize(cells);
      find_narrow();
    } else {
      values_.resize(cells);
      corrections_.resize(cells);
    }
  }

  /// k.
  std::int64_t clusters() const { return static_cast<std::int64_t>(counts_.size()); }

  /// Whether the sums are of an integer form: exact, and free of order.
  bool is_integer() const { return plan_->is_integer(); }

  /// Sets all sums and counts to zero.
  void clear() {
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(lanes_.begin(), lanes_.end(), 0);
    std::fill(totals_.begin(), totals_.end(), 0);
    std::fill(values_.begin(), values_.end(), 0.0);
    std::fill(corrections_.begin(), corrections_.end(), 0.0);
    rows_since_flush_ = 0;
  }

  /// Adds `rows` samples: sample i at `data + i*stride`, of cluster `labels[i]`. The compensated
  /// form must be given all rows in ascending order.
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
        kernels.add(data, stride, part, labels, layout(), lanes_.data(), counts_.data());
      } else {
        for (std::int64_t i = 0; i < part; ++i) move_parts(data + i * stride, -1, labels[i]);
      }
      rows_since_flush_ += part;
      if (rows_since_flush_ == flush_rows_) flush();
      data += part * stride;
      labels += part;
      rows -= part;
    }
  }

  /// Takes one sample out of cluster `from` (-1: out of none) and puts it into `to`. It may have
  /// been added to other sums that are merged with these; counts are below 0 until then. Integer
  /// forms only.
  template <class T>
  void move(const T* sample, std::int32_t from, std::int32_t to) {
    move_parts(sample, from, to);
    if (++rows_since_flush_ == flush_rows_) flush();
  }

  /// move() of `count` samples; sample i is at `data + i*stride`.
  template <class T>
  void move(const T* data, std::int64_t stride, const LabelChange* changes, std::int64_t count,
            const SumKernels<T>& kernels) {
    while (count > 0) {
      const std::int64_t part = std::min(count, flush_rows_ - rows_since_flush_);
      if (kernels.move != nullptr) {
        kernels.move(data, stride, changes, part, layout(), lanes_.data(), counts_.data());
      } else {
        for (std::int64_t i = 0; i < part; ++i) {
          move_parts(data + changes[i].row * stride, changes[i].from, changes[i].to);
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

  /// Samples of a cluster.
  std::int64_t count(std::int64_t cluster) const {
    return counts_[static_cast<std::size_t>(cluster)];
  }

  /// Means of a cluster with a count > 0: the sum rounded once to float64, then divided.
  void mean(std::int64_t cluster, double* centroid) {
    flush();
    const auto count = static_cast<double>(counts_[static_cast<std::size_t>(cluster)]);
    for (std::int64_t j = 0; j < plan_->features; ++j) {
      const std::size_t at = cell(cluster, j);
      const double sum = plan_->is_integer()
                             ? std::ldexp(static_cast<double>(totals_[at]),
                                          plan_->quantum_exponents[static_cast<std::size_t>(j)])
                             : values_[at] + corrections_[at];
      centroid[j] = sum / count;
    }
  }

  /// Goes on from words that store() wrote, under the same plan. Null arrays count as zeros, and
  /// store() leaves them out.
  void load(const SumWords* words, const std::int64_t* counts) {
    clear();
    if (counts != nullptr) std::copy_n(counts, clusters(), counts_.begin());
    if (words == nullptr) return;
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      totals_[i] = static_cast<Int128>(words[i].high) << 64 | words[i].low;
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = std::bit_cast<double>(words[i].low);
      corrections_[i] = std::bit_cast<double>(words[i].high);
    }
  }

  /// Writes the sums (k x d words) and the counts (k); null arrays are not wanted.
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

 private:
  std::size_t cell(std::int64_t cluster, std::int64_t feature) const {
    return static_cast<std::size_t>(cluster * plan_->features + feature);
  }

  // Most data need several lanes for the sake of a few features that have a value near zero. The
  // wider a lane may be, the fewer they are, and the sooner it has to be flushed: so wide that this
  // takes little beside the rows between.
  void find_narrow() {
    constexpr std::int64_t kRowsPerCluster = 256;
    const auto rows = static_cast<std::uint64_t>(kRowsPerCluster * clusters());
    const int room =
        plan_->lanes == 1 ? plan_->lane_bits : 62 - static_cast<int>(std::bit_width(rows));
    const int bits = std::min(SumLayout::kNarrowBits, room);
    flush_rows_ = plan_->flush_rows;
    narrow_.assign(
        static_cast<std::size_t>((plan_->features + SumLayout::kRun - 1) / SumLayout::kRun), 1);
    int widest = 0;
    for (std::size_t run = 0; run < narrow_.size(); ++run) {
      const auto begin =
          plan_->value_bits.begin() + static_cast<std::ptrdiff_t>(run) * SumLayout::kRun;
      const auto left = plan_->value_bits.end() - begin;
      const int most =
          *std::max_element(begin, begin + std::min<std::ptrdiff_t>(left, SumLayout::kRun));
      narrow_[run] = most <= bits ? 1 : 0;
      if (most <= bits) widest = std::max(widest, most);
    }
    flush_rows_ = std::min(flush_rows_, std::int64_t{1} << (62 - widest));
  }

  SumLayout layout() const {
    return {plan_->scales.data(),
            plan_->quanta.data(),
            narrow_.data(),
            plan_->features,
            plan_->lanes,
            clusters(),
            static_cast<std::int64_t>(totals_.size())};
  }

  template <class T>
  void move_parts(const T* x, std::int32_t from, std::int32_t to) {
    std::int64_t* const enters = lanes_.data() + cell(to, 0);
    ++counts_[static_cast<std::size_t>(to)];
    if (from < 0) {
      layout().for_each_part(x,
                             [enters](std::int64_t at, std::int64_t part) { enters[at] += part; });
      return;
    }
    std::int64_t* const leaves = lanes_.data() + cell(from, 0);
    --counts_[static_cast<std::size_t>(from)];
    layout().for_each_part(x, [leaves, enters](std::int64_t at, std::int64_t part) {
      leaves[at] -= part;
      enters[at] += part;
    });
  }

  // Neumaier's summation: the correction collects what each addition rounds away.
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
    for (int lane = 0; lane < plan_->lanes; ++lane) {
      const Int128 weight = static_cast<Int128>(1) << (lane * plan_->lane_bits);
      std::int64_t* sums = lanes_.data() + static_cast<std::size_t>(lane) * cells;
      for (std::size_t i = 0; i < cells; ++i) {
        totals_[i] += sums[i] * weight;
        sums[i] = 0;
      }
    }
  }

  const SumPlan* plan_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> lanes_;  // lanes x clusters x features
  std::vector<Int128> totals_;       // clusters x features, as are the two below
  std::vector<double> values_;
  std::vector<double> corrections_;
  std::vector<std::uint8_t> narrow_;  // SumLayout::narrow
  std::int64_t flush_rows_ = 0;
  std::int64_t rows_since_flush_ = 0;
};

}  // namespace lloyd
