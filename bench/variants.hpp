// Variants: every available backend, with the parameters that are worth comparing.
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
  std::int64_t threads = 0;  ///< 0: the backend does not say
  bool on_cpu = true;        ///< the ceilings of the processor apply
};

/// The defaults, and each other value of a choice. Where a backend has a whole number named
/// `threads`, which by convention is the number of its threads, all of that with one thread and
/// with one per processor that may be used.
std::vector<Variant> variants_of(const std::vector<std::shared_ptr<const LoadedBackend>>& backends);

/// Why the variant cannot fit such a shape; empty when it can.
std::string unsupported(const Variant& variant, const Shape& shape, DType dtype);

/// Which phases of an iteration the variant times when asked to.
struct Phases {
  bool assignment = false;
  bool update = false;
};
Phases reported_phases(const Variant& variant, DType dtype);

}  // namespace lloyd::bench
