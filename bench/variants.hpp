// Variants: every available backend with the parameters to compare.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <lloyd/parameter_set.hpp>
#include <lloyd/registry.hpp>

#include "problem.hpp"

namespace lloyd::bench {

struct Variant {
  std::string name;  ///< "openmp/threads:2", "sequential/layout:aos"
  std::shared_ptr<const LoadedBackend> backend;
  ParameterSet parameters;
  std::int64_t threads = 0;  ///< 0: unknown
  bool on_cpu = true;        ///< true: the ceilings of the CPU apply
};

/// The defaults, and each other value of each choice. If a backend has an integer parameter
/// `threads`, all of these with one thread and with one per usable processor.
std::vector<Variant> variants_of(const std::vector<std::shared_ptr<const LoadedBackend>>& backends);

/// Why the variant does not support such a fit; empty if it does.
std::string unsupported(const Variant& variant, const Shape& shape, DType dtype);

/// The phases of an iteration that the variant can profile.
struct Phases {
  bool assignment = false;
  bool update = false;
};
Phases reported_phases(const Variant& variant, DType dtype);

}  // namespace lloyd::bench
