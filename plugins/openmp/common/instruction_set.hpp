// InstructionSet: selects the instruction set of the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lloyd_openmp {

/// Selects the kernels that run. The first argument of every kernel.
class InstructionSet {
 public:
  /// The best set that this machine supports.
  InstructionSet();

  /// Values of the parameter `isa`. "auto": the best set that this machine supports.
  static constexpr const char* kNames[] = {"auto", "avx512", "avx2", "sse4", "neon"};

  /// kNames[choice]; requires supported(choice).
  explicit InstructionSet(std::int64_t choice);

  /// True if this machine supports kNames[choice] and the kernels were compiled for it.
  static bool supported(std::int64_t choice);
  /// Names of the supported sets, for messages: "avx2, sse4".
  static std::string supported_names();

  /// The set for the integer screen: the same, or AVX2 on a machine with AVX-512 but without VNNI,
  /// on which the AVX-512 integer kernels rely.
  InstructionSet for_integer_screen() const;

  /// Index into Highway's dispatch tables.
  std::size_t index() const { return index_; }

 private:
  std::size_t index_;
};

}  // namespace lloyd_openmp
