// The backends that an experiment names, and the parameter values it requests for each.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// The values requested for one parameter of a backend; several values form an axis.
struct ParameterRequest {
  std::string name;
  Place place;
  std::vector<ConfigNode> values;
};

/// A backend named by the experiment, with its requested parameter values.
struct BackendRequest {
  std::string name;
  Place place;
  std::vector<ParameterRequest> parameters;
  bool optional = false;               ///< if the plugin is missing, its trials are skipped
  std::filesystem::path program = {};  ///< of the backend `external`; empty for plugins

  /// Returns null if the experiment does not name the parameter.
  const ParameterRequest* find(std::string_view parameter) const;
};

/// Reads a backend's name, or a map from one name to its parameters. Lists of parameter values are
/// allowed only if `axes` is true. `what` is the key, used in messages. Throws InputError if the
/// node is malformed.
BackendRequest read_backend(const ConfigNode& node, const std::string& what, bool axes);

/// Reads a non-empty list of backends. Throws InputError otherwise.
std::vector<BackendRequest> read_backends(const ConfigNode& node);

/// Moves the parameter `program` of a request for `external` to BackendRequest::program. A relative
/// path is resolved against `folder`. Throws InputError if there is no program, or more than one.
void take_program(BackendRequest& request, const std::filesystem::path& folder);

/// Reads the names of the backends whose plugins may be missing. Throws InputError for a name that
/// is not in `backends`, or is listed twice.
std::set<std::string> read_optional(const ConfigNode& node,
                                    const std::vector<BackendRequest>& backends);

}  // namespace lloyd::experiment
