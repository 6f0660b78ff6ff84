// Variants: each backend of an experiment with one value for each of its parameters.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/parameters.hpp>
#include <lloyd/registry.hpp>

#include "experiment/config.hpp"

namespace lloyd::experiment {

struct Variant {
  std::shared_ptr<const LoadedBackend> backend;
  ParameterSet parameters;
  /// The backend's name and those parameters in which its variants differ: "openmp threads=2".
  std::string label;
};

/// Loads a backend by name, throws InputError where there is none: Registry::load.
using BackendLoader = std::function<std::shared_ptr<const LoadedBackend>(std::string_view)>;

/// The product of each backend's parameter lists. Throws InputError at an unknown backend or
/// parameter, a wrong value, or a variant that is there twice.
std::vector<Variant> make_variants(const std::vector<BackendRequest>& requests,
                                   const BackendLoader& load);

/// Index of the one variant that a baseline means. Throws InputError at a baseline that means none
/// or several.
std::size_t find_baseline(const BackendRequest& baseline, const std::vector<Variant>& variants);

}  // namespace lloyd::experiment
