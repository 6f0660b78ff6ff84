// Variants: each backend of an experiment with one value for each of its parameters.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/parameter_set.hpp>
#include <lloyd/registry.hpp>

#include "experiment/config/config.hpp"

namespace lloyd::experiment {

struct Variant {
  std::string name;  ///< the backend's; of an external program, what it says
  std::map<std::string, std::string> given;      ///< parameters that the experiment names, as texts
  std::shared_ptr<const LoadedBackend> backend;  ///< null where an optional plugin is missing
  ParameterSet parameters;                       ///< all of the backend's; none without it
  /// The name and those parameters in which its variants differ: "openmp threads=2".
  std::string label;
  std::string missing;  ///< why there is no backend; else empty

  /// Whether it is known what parameters there are: not of a missing plugin, nor of a program that
  /// cannot run here and therefore does not say.
  bool parameters_known() const;
};

/// Loads a backend by name, throws InputError where there is none: Registry::load.
using BackendLoader = std::function<std::shared_ptr<const LoadedBackend>(std::string_view)>;

/// The product of each backend's parameter lists. Throws InputError at an unknown backend that is
/// not optional, an unknown parameter, a wrong value, or a variant that is there twice. The
/// parameters of a backend cannot be checked where they are not known.
std::vector<Variant> make_variants(const std::vector<BackendRequest>& requests,
                                   const BackendLoader& load);

/// Index of the one variant that a baseline means. Throws InputError at a baseline that means none
/// or several.
std::size_t find_baseline(const BackendRequest& baseline, const std::vector<Variant>& variants);

}  // namespace lloyd::experiment
