#include "instruction_set.hpp"

#include <iterator>

#include "vector_targets.hpp"
// After vector_targets.hpp.
#include <hwy/highway.h>

namespace lloyd_openmp {
namespace {

using Targets = decltype(hwy::SupportedTargets());

// Of number `choice` of kNames; 0: none, where this machine is of another family.
Targets targets_of(std::int64_t choice) {
  constexpr Targets kTargets[] = {~Targets{0}, HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON};
  static_assert(std::size(kTargets) == std::size(InstructionSet::kNames));
  return kTargets[choice] & hwy::SupportedTargets() & HWY_TARGETS;
}

}  // namespace

InstructionSet::InstructionSet() : InstructionSet(0) {}

InstructionSet::InstructionSet(std::int64_t choice) {
  hwy::ChosenTarget chosen;
  chosen.Update(targets_of(choice));
  index_ = chosen.GetIndex();
}

bool InstructionSet::has(std::int64_t choice) {
  return choice == 0 || targets_of(choice) != 0;
}

std::string InstructionSet::all() {
  std::string names;
  for (std::size_t choice = 1; choice < std::size(kNames); ++choice) {
    if (!has(static_cast<std::int64_t>(choice))) continue;
    if (!names.empty()) names += ", ";
    names += kNames[choice];
  }
  return names;
}

}  // namespace lloyd_openmp
