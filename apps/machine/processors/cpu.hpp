// Cpu: model, features and topology of the processor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/system/system_files.hpp"

namespace lloyd::machine {

/// One kind of cores of a hybrid processor.
struct CoreKind {
  std::string name;  ///< "performance", "efficiency", "capacity 446"
  std::int64_t processors = 0;
};

struct Cpu {
  std::string model;  ///< empty if unknown
  /// Supported instruction sets that are relevant to k-means: "AVX2", "NEON".
  std::vector<std::string> features;
  std::int64_t logical = 0;     ///< logical processors online
  std::int64_t physical = 0;    ///< cores; 0: unknown
  std::int64_t sockets = 0;     ///< processor packages; 0: unknown
  std::vector<CoreKind> kinds;  ///< empty if all cores are alike
  std::string governor;         ///< frequency governor, "a, b" if they differ; empty if unknown
  std::optional<bool> boost;    ///< clocks may exceed the nominal one; no value if unknown
};

Cpu read_cpu(const SystemFiles& files = SystemFiles());
std::string read_cpu_model(const SystemFiles& files = SystemFiles());

/// The subset of `processors` of the fastest kind among them; all if they are alike.
std::vector<int> fastest_processors(const std::vector<int>& processors,
                                    const SystemFiles& files = SystemFiles());

/// The processors that share a core with this one, including itself.
std::vector<int> processors_of_core(int processor, const SystemFiles& files = SystemFiles());

/// The highest current clock of the processors in MHz; 0 if unknown. The maximum is the clock of a
/// busy processor, unless all are idle. Samples at most 64 of them, as each takes about ten
/// microseconds.
double highest_clock_mhz(const std::vector<int>& processors,
                         const SystemFiles& files = SystemFiles());

}  // namespace lloyd::machine
