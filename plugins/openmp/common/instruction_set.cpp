#include "common/instruction_set.hpp"

#include <iterator>

#include "common/vector_targets.hpp"
// Must follow vector_targets.hpp.
#include <hwy/highway.h>

namespace lloyd_openmp {
namespace {

using Targets = decltype(hwy::SupportedTargets());

// The Highway targets for kNames[choice]; 0 if this machine supports none of them.
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

InstructionSet InstructionSet::for_integer_screen() const {
#if defined(__x86_64__)
  constexpr std::int64_t kAvx512 = 1, kAvx2 = 2;
  // Cached: querying the processor may take microseconds on a virtual machine.
  static const bool lacks_vnni =
      supported(kAvx512) && supported(kAvx2) && !__builtin_cpu_supports("avx512vnni");
  if (lacks_vnni) {
    static const InstructionSet avx512(kAvx512), avx2(kAvx2);
    if (index_ == avx512.index_) return avx2;
  }
#endif
  return *this;
}

bool InstructionSet::supported(std::int64_t choice) {
  return choice == 0 || targets_of(choice) != 0;
}

std::string InstructionSet::supported_names() {
  std::string names;
  for (std::size_t choice = 1; choice < std::size(kNames); ++choice) {
    if (!supported(static_cast<std::int64_t>(choice))) continue;
    if (!names.empty()) names += ", ";
    names += kNames[choice];
  }
  return names;
}

}  // namespace lloyd_openmp
