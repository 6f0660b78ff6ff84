// PassMessage: what the ranks add up after each pass of a distributed fit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <lloyd/internal/ranks.hpp>
#include <lloyd/plugin/abi/exact_sum.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// Bits of the change of a sum, including the sign.
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

/// True if the high limbs of message_limbs(), added up over all ranks, fit into 32 bits. The change
/// of a sum over all ranks is below 2^(change_bits - 1), so that its high limb is below
/// 2^(change_bits - 1 - limbs.bits) <= 2^29. Each rank rounds its own down, which subtracts less
/// than 1 per rank, and there are at most 2^30 ranks.
inline bool has_short_high_limbs(const SumPlan& plan, std::int64_t total_samples,
                                 const SumLimbs& limbs) {
  return limbs.count == 2 && change_bits(plan, total_samples) - limbs.bits <= 30;
}

/// Packs pairs of values into one: values[i] + 2^32 * values[i + h], where h = ceil(size / 2).
/// Packed values may be added up; unpack_pairs() recovers the sums if each fits into 32 bits.
/// Returns h; the first h values are the packed ones.
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

  /// `sums`: entries for cluster sums, 0 if they are not sent. `packs_high_limbs`: sums have two
  /// limbs, and pairs of the high ones are sent as one value; see has_short_high_limbs().
  PassMessage(std::int64_t clusters, std::int64_t sums, bool has_inertia,
              bool packs_high_limbs = false)
      : clusters_(static_cast<std::size_t>(clusters)),
        chunks_(has_inertia ? ExactSum::kChunks : 0),
        sums_(static_cast<std::size_t>(sums)),
        packs_high_limbs_(packs_high_limbs),
        values_(fields + clusters_ + chunks_ + sums_) {}

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

  /// Throws StatusError if a high limb of this rank is too large to be packed, which those of
  /// correct sums never are.
  void check_high_limbs() {
    if (!packs_high_limbs_) return;
    constexpr std::int64_t kBound = std::int64_t{1} << 30;
    std::uint64_t beyond = 0;  // the bits above those of values in [-kBound, kBound)
    for (const std::int64_t limb : high_limbs()) {
      beyond |= (static_cast<std::uint64_t>(limb) + kBound) >> 31;
    }
    if (beyond == 0) return;
    const std::span<const std::int64_t> high = high_limbs();
    const auto at = static_cast<std::size_t>(
        std::find_if(high.begin(), high.end(),
                     [](std::int64_t limb) { return limb < -kBound || limb >= kBound; }) -
        high.begin());
    const std::size_t features = high.size() / clusters_;
    throw StatusError(
        StatusCode::internal,
        fmt::format("a pass changed the sum of cluster {}, feature {} by more than its samples can",
                    at / features, at % features));
  }

  /// Adds up the messages of all ranks. If this rank failed, its numbers do not count. Throws
  /// AgreedError on all ranks if one failed, and `cancelled` on all if one stopped.
  void add_up(const Ranks& ranks, const Status& mine, bool stop) {
    const bool cancelled = mine.code == StatusCode::cancelled;
    if (!mine.ok()) clear();
    (*this)[failures] = !mine.ok() && !cancelled ? 1 : 0;
    (*this)[stops] = cancelled || stop ? 1 : 0;
    sum_over_ranks(ranks);
    if ((*this)[failures] > 0) ranks.agree(cancelled ? Status() : mine);
    if ((*this)[stops] > 0) throw AgreedError(StatusCode::cancelled, "the observer asked to stop");
  }

 private:
  std::int64_t* inertia_chunks() { return counts() + clusters_; }

  std::span<std::int64_t> high_limbs() { return std::span(values_).last(sums_ / 2); }

  void sum_over_ranks(const Ranks& ranks) {
    const std::span<std::int64_t> values(values_);
    if (!packs_high_limbs_) return ranks.sum(values);
    const std::size_t unpacked = values.size() - high_limbs().size();
    ranks.sum(values.first(unpacked + pack_pairs(high_limbs())));
    unpack_pairs(high_limbs());
  }

  std::size_t clusters_;
  std::size_t chunks_;  // of the inertia
  std::size_t sums_;
  bool packs_high_limbs_;
  std::vector<std::int64_t> values_;  // fields, counts, chunks of the inertia, limbs of the sums
};

}  // namespace lloyd
