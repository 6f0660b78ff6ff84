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

/// The split of sums into limbs whose sums over all ranks fit into 64 bits.
inline SumLimbs message_limbs(const SumPlan& plan, std::int64_t total_samples, int ranks) {
  if (plan.form == SumForm::integer64) return {1, 63};
  const int value_bits = *std::max_element(plan.value_bits.begin(), plan.value_bits.end());
  // A sum has value_bits + count_bits + 1 bits with its sign; the change of a sum has one more.
  const int bits =
      value_bits + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(total_samples))) + 2;
  SumLimbs limbs;
  limbs.bits = 62 - static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
  limbs.count = (bits + limbs.bits - 1) / limbs.bits;
  return limbs;
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

  /// `sums`: entries for cluster sums, 0 if they are not sent.
  PassMessage(std::int64_t clusters, std::int64_t sums, bool has_inertia)
      : clusters_(static_cast<std::size_t>(clusters)),
        sums_(static_cast<std::size_t>(sums)),
        values_(fields + clusters_ + sums_ + (has_inertia ? ExactSum::kChunks : 0)) {}

  /// Sets everything to zero.
  void clear() { std::fill(values_.begin(), values_.end(), 0); }

  /// A number.
  std::int64_t& operator[](Field field) { return values_[field]; }
  /// Counts of samples, k.
  std::int64_t* counts() { return values_.data() + fields; }
  /// Limbs of the cluster sums.
  std::int64_t* sums() { return counts() + clusters_; }

  /// Adds this rank's inertia.
  void set_inertia(const ExactSum& inertia) {
    ExactSum carried;
    carried.add(inertia);  // propagates the carries of `inertia`, so that chunks can be added
    std::copy_n(carried.chunks, ExactSum::kChunks, sums() + sums_);
  }
  /// The inertia of all ranks.
  ExactSum inertia() {
    ExactSum sum;
    std::copy_n(sums() + sums_, ExactSum::kChunks, sum.chunks);
    return sum;
  }

  /// Adds up the messages of all ranks. If this rank failed, its numbers do not count. Throws
  /// AgreedError on all ranks if one failed, and `cancelled` on all if one stopped.
  void add_up(const Ranks& ranks, const Status& mine, bool stop) {
    const bool cancelled = mine.code == StatusCode::cancelled;
    if (!mine.ok()) clear();
    (*this)[failures] = !mine.ok() && !cancelled ? 1 : 0;
    (*this)[stops] = cancelled || stop ? 1 : 0;
    ranks.sum(values_);
    if ((*this)[failures] > 0) ranks.agree(cancelled ? Status() : mine);
    if ((*this)[stops] > 0) throw AgreedError(StatusCode::cancelled, "the observer asked to stop");
  }

 private:
  std::size_t clusters_, sums_;
  std::vector<std::int64_t> values_;
};

}  // namespace lloyd
