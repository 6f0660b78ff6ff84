// TotalChanges: the change of cluster sums and counts from one pass to the next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// Computes the changes that PassKernels::pass() must add, as differences between the totals of
/// this pass and of the previous pass (0 before the first).
class TotalChanges {
 public:
  /// For a plan and k clusters.
  TotalChanges(const SumPlan& plan, std::int64_t clusters)
      : counts_(static_cast<std::size_t>(clusters)) {
    if (plan.is_integer()) words_.resize(static_cast<std::size_t>(clusters * plan.features));
  }

  /// `words`: the sums of this pass (k x d). Adds their difference from the previous pass to `sums`
  /// (limbs x k x d; null: not requested). Integer forms only.
  void add_sums(std::span<const SumWords> words, const SumLimbs& limbs, std::int64_t* sums) {
    if (sums == nullptr) {
      std::copy(words.begin(), words.end(), words_.begin());
      return;
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Word128 change = bits_of(words[i]) - bits_of(words_[i]);
      words_[i] = words[i];
      add_limbs(static_cast<Int128>(change), limbs, sums + i, words.size());
    }
  }
  /// `of_pass`: the counts of this pass (k). Adds their difference from the previous pass to
  /// `counts` (k; null: not requested).
  void add_counts(std::span<const std::int64_t> of_pass, std::int64_t* counts) {
    for (std::size_t c = 0; c < of_pass.size(); ++c) {
      if (counts != nullptr) counts[c] += of_pass[c] - counts_[c];
      counts_[c] = of_pass[c];
    }
  }

 private:
  __extension__ typedef unsigned __int128 Word128;

  static Word128 bits_of(const SumWords& words) {
    return static_cast<Word128>(words.high) << 64 | words.low;
  }

  std::vector<SumWords> words_;       // of the previous pass
  std::vector<std::int64_t> counts_;  // the same
};

}  // namespace lloyd
