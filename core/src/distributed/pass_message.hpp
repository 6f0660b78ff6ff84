// PassMessage: what the ranks add up after each pass of a distributed fit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <lloyd/internal/ranks.hpp>
#include <lloyd/plugin/abi/exact_sum.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// Bits, with the sign, of the change of a sum.
inline int change_bits(const SumPlan& plan, std::int64_t total_samples) {
  const int value_bits = *std::max_element(plan.value_bits.begin(), plan.value_bits.end());
  // A sum has value_bits + count_bits + 1 bits with its sign; the change of a sum has one more.
  return value_bits + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(total_samples))) +
         2;
}

/// The split of sums into limbs whose sums over all ranks fit into 64 bits.
inline SumLimbs message_limbs(const SumPlan& plan, std::int64_t total_samples, int ranks) {
  if (plan.form == SumForm::integer64) return {1, 63};
  SumLimbs limbs;
  limbs.bits = 62 - static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
  limbs.count = (change_bits(plan, total_samples) + limbs.bits - 1) / limbs.bits;
  return limbs;
}

/// True if the sums over all ranks of the high limbs of message_limbs() fit into 32 bits. They are
/// below 2^(change_bits - 1 - limbs.bits) in magnitude, and at most the number of ranks beyond,
/// which is at most 2^30.
inline bool has_short_high_limbs(const SumPlan& plan, std::int64_t total_samples,
                                 const SumLimbs& limbs) {
  return limbs.count == 2 && change_bits(plan, total_samples) - limbs.bits <= 30;
}

/// Packs values two by two: value i and, times 2^32, value i + half, where half is that of the
/// number of values, rounded up. Packed values can be added up; as long as the sums fit into 32
/// bits, unpack_pairs() returns them. Returns the number of packed values, which are the first
/// ones.
inline std::size_t pack_pairs(std::span<std::int64_t> values) {
  const std::size_t half = (values.size() + 1) / 2;
  for (std::size_t i = half; i < values.size(); ++i) {
    values[i - half] = static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i - half]) +
                                                 (static_cast<std::uint64_t>(values[i]) << 32));
  }
  return half;
}

/// Undoes pack_pairs().
inline void unpack_pairs(std::span<std::int64_t> values) {
  const std::size_t half = (values.size() + 1) / 2;
  for (std::size_t i = half; i < values.size(); ++i) {
    const std::int64_t pair = values[i - half];
    const auto low = static_cast<std::int32_t>(pair);
    values[i - half] = low;
    values[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(pair) -
                                          static_cast<std::uint64_t>(std::int64_t{low})) >>
                32;
  }
}

/// An array of 64-bit integers with one contribution of each rank, and after add_up() their sums.
class PassMessage {
 public:
  /// Numbers in front of the arrays.
  enum Field {
    failures,         ///< ranks that failed
    stops,            ///< ranks whose observer requested to stop
    changed,          ///< changed labels
    distances,        ///< computed distances
    exact_fallbacks,  ///< exact fallbacks
    screening_ranks,  ///< ranks that count exact fallbacks
    fields,           ///< number of fields
  };

  /// `sums`: entries for cluster sums, 0 if they are not sent. `short_high_limbs`: sums have two
  /// limbs, of which the high ones travel in pairs; see has_short_high_limbs().
  PassMessage(std::int64_t clusters, std::int64_t sums, bool has_inertia,
              bool short_high_limbs = false)
      : clusters_(static_cast<std::size_t>(clusters)),
        chunks_(has_inertia ? ExactSum::kChunks : 0),
        short_high_limbs_(short_high_limbs),
        values_(fields + clusters_ + chunks_ + static_cast<std::size_t>(sums)) {}

  /// Sets everything to zero.
  void clear() { std::fill(values_.begin(), values_.end(), 0); }

  /// A number.
  std::int64_t& operator[](Field field) { return values_[field]; }
  /// Counts of samples, k.
  std::int64_t* counts() { return values_.data() + fields; }
  /// Limbs of the cluster sums.
  std::int64_t* sums() { return inertia_chunks() + chunks_; }

  /// Adds this rank's inertia.
  void set_inertia(const ExactSum& inertia) {
    ExactSum carried;
    carried.add(inertia);  // propagates the carries of `inertia`, so that chunks can be added
    std::copy_n(carried.chunks, ExactSum::kChunks, inertia_chunks());
  }
  /// The inertia of all ranks.
  ExactSum inertia() {
    ExactSum sum;
    std::copy_n(inertia_chunks(), ExactSum::kChunks, sum.chunks);
    return sum;
  }

  /// Adds up the messages of all ranks. If this rank failed, its numbers do not count. Throws
  /// AgreedError on all ranks if one failed, and `cancelled` on all if one stopped.
  void add_up(const Ranks& ranks, const Status& mine, bool stop) {
    const bool cancelled = mine.code == StatusCode::cancelled;
    if (!mine.ok()) clear();
    (*this)[failures] = !mine.ok() && !cancelled ? 1 : 0;
    (*this)[stops] = cancelled || stop ? 1 : 0;
    add_up_values(ranks);
    if ((*this)[failures] > 0) ranks.agree(cancelled ? Status() : mine);
    if ((*this)[stops] > 0) throw AgreedError(StatusCode::cancelled, "the observer asked to stop");
  }

 private:
  std::int64_t* inertia_chunks() { return counts() + clusters_; }

  void add_up_values(const Ranks& ranks) {
    const std::span<std::int64_t> values(values_);
    if (!short_high_limbs_) return ranks.sum(values);
    const std::span<std::int64_t> high = values.last((values.data() + values.size() - sums()) / 2);
    const std::size_t packed = pack_pairs(high);
    ranks.sum(values.first(values.size() - high.size() + packed));
    unpack_pairs(high);
  }

  std::size_t clusters_;
  std::size_t chunks_;  // of the inertia
  bool short_high_limbs_;
  std::vector<std::int64_t> values_;  // fields, counts, chunks of the inertia, limbs of the sums
};

}  // namespace lloyd
