// The instruction sets that tests of openmp's kernels run with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "openmp/common/instruction_set.hpp"

namespace lloyd_openmp {

/// All instruction sets of this machine that the kernels are compiled for.
inline std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (std::size_t choice = 1; choice < std::size(InstructionSet::kNames); ++choice) {
    const auto number = static_cast<std::int64_t>(choice);
    if (InstructionSet::supported(number)) sets.emplace_back(number);
  }
  if (sets.empty()) sets.emplace_back();
  return sets;
}

}  // namespace lloyd_openmp
