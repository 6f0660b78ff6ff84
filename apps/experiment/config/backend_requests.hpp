// The backends that an experiment names, with what it asks of their parameters.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// Values asked for one parameter of a backend; several are an axis.
struct ParameterRequest {
  std::string name;
  Place place;
  std::vector<ConfigNode> values;
};

struct BackendRequest {
  std::string name;
  Place place;
  std::vector<ParameterRequest> parameters;
  bool optional = false;               ///< its plugin may be missing
  std::filesystem::path program = {};  ///< of `external`; else empty

  /// Null where the parameter is not asked for.
  const ParameterRequest* find(std::string_view parameter) const;
};

/// A backend's name, or a map from one name to its parameters; lists of values are allowed with
/// `axes`. `what` is the key, for messages. Throws InputError at what is wrong.
BackendRequest read_backend(const ConfigNode& node, const std::string& what, bool axes);

/// A list of them that is not empty.
std::vector<BackendRequest> read_backends(const ConfigNode& node);

/// Takes the parameter `program` out of a request for `external`; a relative path starts at
/// `folder`. Throws InputError where there is none, or several.
void take_program(BackendRequest& request, const std::filesystem::path& folder);

/// A list of the names of backends whose plugins may be missing. Throws InputError at one that is
/// not among the backends, or is there twice.
std::set<std::string> read_optional(const ConfigNode& node,
                                    const std::vector<BackendRequest>& backends);

}  // namespace lloyd::experiment
