// PassTotals: the state of a fit that its passes report as changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/internal/format_count.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "distributed/pass_message.hpp"

namespace lloyd {

/// Sums and counts of all samples by the labels of the last pass, and numbers of all passes.
struct PassTotals {
  PassTotals(std::int64_t clusters, std::int64_t features)
      : sums(static_cast<std::size_t>(clusters * features)),
        counts(static_cast<std::size_t>(clusters)) {}

  /// Adds the numbers and counts of a pass. Returns a fault of the counts as a sentence; empty if
  /// there is none. `samples`: n.
  std::string add(PassMessage& message, std::int64_t samples) {
    changed = message[PassMessage::changed];
    distances += message[PassMessage::distances];
    if (message[PassMessage::screening_ranks] > 0) {
      exact_fallbacks =
          std::max<std::int64_t>(exact_fallbacks, 0) + message[PassMessage::exact_fallbacks];
    }
    std::int64_t rest = samples;
    bool negative = false;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      counts[c] += message.counts()[c];
      negative |= counts[c] < 0;
      rest -= counts[c];
    }
    if (rest == 0 && !negative) return {};
    return fmt::format("the counts of the clusters add up to {} with {}", samples - rest,
                       format_count(samples, "sample"));
  }

  /// Adds the integer sums of a pass: `limbs.count` x k x d.
  void add_sums(const SumLimbs& limbs, const std::int64_t* changes) {
    const std::size_t cells = sums.size();
    int limb = 0;
    // A product of 64-bit numbers is faster than a shift of 128 bits; nearly all sums have one or
    // two limbs.
    if (limbs.count > 1 && limbs.bits < 63) {
      const std::int64_t weight = std::int64_t{1} << limbs.bits;
      add_to_each([&, high = changes + cells](std::size_t i) {
        return static_cast<Int128>(high[i]) * weight + changes[i];
      });
      limb = 2;
    }
    for (; limb < limbs.count; ++limb) {
      const std::int64_t* const values = changes + static_cast<std::size_t>(limb) * cells;
      add_to_each([values, shift = limb * limbs.bits](std::size_t i) {
        return static_cast<UInt128>(static_cast<Int128>(values[i])) << shift;
      });
    }
  }

  std::vector<SumWords> sums;         ///< k x d
  std::vector<std::int64_t> counts;   ///< k
  std::int64_t changed = 0;           ///< labels that the last pass changed
  std::int64_t distances = 0;         ///< of all passes
  std::int64_t exact_fallbacks = -1;  ///< of all passes; negative if no pass screens

 private:
  __extension__ typedef unsigned __int128 UInt128;

  // Adds change(i) to sum i.
  template <class Change>
  void add_to_each(const Change& change) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      UInt128 sum = static_cast<UInt128>(sums[i].high) << 64 | sums[i].low;
      sum += static_cast<UInt128>(change(i));
      sums[i] = {static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(sum >> 64)};
    }
  }
};

}  // namespace lloyd
