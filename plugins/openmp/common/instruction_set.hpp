// InstructionSet: selects the instruction set whose kernels run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lloyd_openmp {

/// Selects the kernels that run; the first argument of every kernel.
class InstructionSet {
 public:
  /// The best one that this machine has.
  InstructionSet();

  /// Values of the parameter `isa`. The first one means the best one that this machine has.
  static constexpr const char* kNames[] = {"auto", "avx512", "avx2", "sse4", "neon"};

  /// kNames[choice]; requires has(choice).
  explicit InstructionSet(std::int64_t choice);

  /// True if this machine has kNames[choice] and the kernels were compiled for it.
  static bool has(std::int64_t choice);
  /// The sets that this machine has, as text: "avx2, sse4".
  static std::string all();

  /// The set for the integer screen: the same, or AVX2 if the machine has AVX-512 without VNNI, on
  /// which the AVX-512 integer kernels rely.
  InstructionSet for_integers() const;

  /// Index into Highway's dispatch tables.
  std::size_t index() const { return index_; }

 private:
  std::size_t index_;
};

}  // namespace lloyd_openmp
