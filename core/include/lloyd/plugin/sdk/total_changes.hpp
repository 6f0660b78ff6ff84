// TotalChanges: the change of cluster sums and counts from one pass to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// Computes the changes that PassKernels::pass() must add, as differences between the totals of
/// this pass and of the last one (0 before the first).
class TotalChanges {
 public:
  /// `plan` must outlive this object.
  TotalChanges(const SumPlan& plan, std::int64_t clusters)
      : counts_(static_cast<std::size_t>(clusters)) {
    if (!plan.is_integer()) return;
    words_.resize(static_cast<std::size_t>(clusters * plan.features));
    change_.emplace(plan, clusters);
  }

  /// Adds to `sums` (limbs x k x d; null: not requested) the change to the sums of this pass (k x
  /// d). Integer forms only.
  void add_sums(const std::vector<SumWords>& words, const SumLimbs& limbs, std::int64_t* sums) {
    if (sums == nullptr) {
      words_ = words;
      return;
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Word128 change = bits_of(words[i]) - bits_of(words_[i]);
      words_[i] = {static_cast<std::uint64_t>(change), static_cast<std::uint64_t>(change >> 64)};
    }
    change_->load(words_.data(), nullptr);
    change_->add_to(limbs, sums, nullptr);
    words_ = words;
  }
  /// Adds to `counts` (k; null: not requested) the change to the counts of this pass.
  void add_counts(const std::vector<std::int64_t>& of_pass, std::int64_t* counts) {
    for (std::size_t c = 0; counts != nullptr && c < of_pass.size(); ++c) {
      counts[c] += of_pass[c] - counts_[c];
    }
    counts_ = of_pass;
  }

 private:
  __extension__ typedef unsigned __int128 Word128;

  static Word128 bits_of(const SumWords& words) {
    return static_cast<Word128>(words.high) << 64 | words.low;
  }

  std::vector<SumWords> words_;       // of the last pass
  std::vector<std::int64_t> counts_;  // the same
  std::optional<ClusterSums> change_;
};

}  // namespace lloyd
