// InstructionSet: which of the instruction sets that kernels are compiled for they use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lloyd_openmp {

/// Kernels take it as their first argument.
class InstructionSet {
 public:
  /// The best one of this machine.
  InstructionSet();

  /// Values of the parameter `isa`; the first one is the best of this machine.
  static constexpr const char* kNames[] = {"auto", "avx512", "avx2", "sse4", "neon"};

  /// Number `choice` of kNames, which the machine has to have: has().
  explicit InstructionSet(std::int64_t choice);

  /// Whether this machine has number `choice` of kNames, and the kernels were compiled for it.
  static bool has(std::int64_t choice);
  /// Those that it has, as in "avx2, sse4".
  static std::string all();

  /// Whose kernels of integer_screen to take: the same, or AVX2 on machines whose AVX-512, as on
  /// the first ones, lacks the instruction that adds products of 16 bits to sums, which the kernels
  /// for AVX-512 consist of.
  InstructionSet of_integers() const;

  /// Where it stands in Highway's tables of functions.
  std::size_t index() const { return index_; }

 private:
  std::size_t index_;
};

}  // namespace lloyd_openmp
