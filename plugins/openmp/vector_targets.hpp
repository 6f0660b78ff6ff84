// The instruction sets that vector code is compiled for. Comes before hwy/foreach_target.h.
#pragma once

// Left out: vectors whose length is not known when compiling, and sets that add nothing here.
// (On x86 the lower bits are the newer sets.)
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | (HWY_AVX3 - 1))

/// The function of an HWY_EXPORT for an InstructionSet. HWY_DYNAMIC_DISPATCH takes one choice for
/// the whole process; here each session has its own.
#define LLOYD_DISPATCH(instruction_set, function) \
  (*HWY_DISPATCH_TABLE(                           \
      function)[(instruction_set).index() % std::size(HWY_DISPATCH_TABLE(function))])
