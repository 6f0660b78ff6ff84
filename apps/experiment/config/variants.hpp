// Variants: the backends of an experiment, each with one value for each of its parameters.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// A backend with one value for each of its parameters.
struct Variant {
  std::string name;  ///< name of the backend; of an external program, the name it reports
  std::map<std::string, std::string> given;  ///< the parameters that the experiment names, as texts
  std::shared_ptr<const LoadedBackend> backend;  ///< null if an optional plugin is missing
  ParameterSet parameters;  ///< all parameters of the backend; none if it is missing
  /// The name, and the parameters and ranks in which variants of this backend differ: "openmp
  /// threads=2 ranks=4".
  std::string label;
  std::string missing;     ///< why the backend could not be loaded; else empty
  std::int64_t ranks = 0;  ///< number of processes of a trial; 0: one, without a launcher

  /// Whether the parameter schema is known. It is not for a missing plugin, nor for an external
  /// program that cannot run here and so cannot describe itself.
  bool parameters_known() const;
};

/// Loads a backend by name: Registry::load. Throws InputError if there is none of this name.
using BackendLoader = std::function<std::shared_ptr<const LoadedBackend>(std::string_view)>;

/// Returns the product of each backend's parameter lists and of `ranks`, unless these are empty;
/// the ranks vary fastest. Throws InputError for an unknown backend
/// that is not optional, an unknown parameter, a wrong value, and a repeated variant. Parameters
/// are checked only if Variant::parameters_known().
std::vector<Variant> make_variants(const std::vector<BackendRequest>& requests,
                                   const BackendLoader& load,
                                   const std::vector<std::int64_t>& ranks = {});

/// Returns the index of the variant that the baseline names, or whose label it is. If variants
/// differ only in their ranks, the baseline names that with the fewest. Throws
/// InputError if it names none or several.
std::size_t find_baseline(const BackendRequest& baseline, const std::vector<Variant>& variants);

}  // namespace lloyd::experiment
