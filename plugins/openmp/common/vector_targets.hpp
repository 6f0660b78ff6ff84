// The instruction sets that vector code is compiled for. Must precede hwy/foreach_target.h.
#pragma once

// Excluded: vectors of unknown length, and sets that are no faster here. On x86, lower target bits
// are newer instruction sets.
#define LLOYD_EXCLUDED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | (HWY_AVX3 - 1))

// Builds with sanitizers leave out further sets.
#if defined(LLOYD_UNUSED_VECTOR_TARGETS)
#define HWY_DISABLED_TARGETS (LLOYD_EXCLUDED_TARGETS | LLOYD_UNUSED_VECTOR_TARGETS)
#else
#define HWY_DISABLED_TARGETS LLOYD_EXCLUDED_TARGETS
#endif

/// The variant of an HWY_EXPORT function for an InstructionSet. HWY_DYNAMIC_DISPATCH would select
/// one set per process; here every session has its own.
#define LLOYD_DISPATCH(instruction_set, function) \
  (*HWY_DISPATCH_TABLE(                           \
      function)[(instruction_set).index() % std::size(HWY_DISPATCH_TABLE(function))])
