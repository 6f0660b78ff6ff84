#include "experiment/config/backend_requests.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <lloyd/internal/suggestion.hpp>

#include "experiment/yaml/config_values.hpp"
#include "external/description.hpp"

namespace lloyd::experiment {
namespace {

ParameterRequest read_parameter(const ConfigNode& node, const std::string& backend, bool axis) {
  ParameterRequest request{node.key, node.key_place, {}};
  const std::string what = fmt::format("{}.{}", backend, node.key);
  if (axis && node.is_sequence()) {
    request.values = node.children;
    if (request.values.empty()) node.fail(fmt::format("'{}' is an empty list", what));
  } else {
    request.values = {node};
  }
  for (const ConfigNode& value : request.values) {
    if (value.is_scalar()) continue;
    value.fail(fmt::format("'{}' must be a value{}, not {}", what,
                           axis ? " or a list of values" : "", value.kind_text()));
  }
  return request;
}

}  // namespace

const ParameterRequest* BackendRequest::find(std::string_view parameter) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const ParameterRequest& p) { return p.name == parameter; });
  return found == parameters.end() ? nullptr : &*found;
}

BackendRequest read_backend(const ConfigNode& node, const std::string& what, bool axes) {
  if (node.is_scalar()) return {read_text(node, what), node.place, {}};
  if (!node.is_map() || node.children.size() != 1) {
    node.fail(fmt::format(
        "'{}' must be a backend's name, or one name with its parameters such as "
        "'openmp: {{threads: 2}}', not {}",
        what,
        node.is_map() ? fmt::format("a map of {} keys", node.children.size()) : node.kind_text()));
  }
  const ConfigNode& parameters = node.children.front();
  BackendRequest request{parameters.key, parameters.key_place, {}};
  if (parameters.is_null()) return request;
  if (!parameters.is_map()) {
    parameters.fail(
        fmt::format("the parameters of '{}' must be a map such as {{threads: 2}}, not {}",
                    request.name, parameters.kind_text()));
  }
  constexpr std::size_t kMaxParameters = 1000;  // same limit as a backend's schema
  if (parameters.children.size() > kMaxParameters) {
    parameters.fail(fmt::format("'{}' has {} parameters; at most {} are allowed", request.name,
                                parameters.children.size(), kMaxParameters));
  }
  for (const ConfigNode& parameter : parameters.children) {
    request.parameters.push_back(read_parameter(parameter, request.name, axes));
  }
  return request;
}

std::vector<BackendRequest> read_backends(const ConfigNode& node) {
  if (!node.is_sequence() || node.children.empty()) {
    node.fail(fmt::format("'backends' must be a list of backends, not {}",
                          node.is_sequence() ? "an empty one" : node.kind_text()));
  }
  std::vector<BackendRequest> backends;
  for (const ConfigNode& child : node.children) {
    backends.push_back(read_backend(child, "backends", true));
  }
  return backends;
}

void take_program(BackendRequest& request, const std::filesystem::path& folder) {
  const auto found =
      std::find_if(request.parameters.begin(), request.parameters.end(),
                   [](const ParameterRequest& p) { return p.name == external::kProgramKey; });
  if (found == request.parameters.end()) {
    request.place.fail(
        fmt::format("'{0}' needs '{1}', the path of a program: '{0}: {{{1}: peers/mine.py}}'",
                    external::kBackendName, external::kProgramKey));
  }
  if (found->values.size() != 1) {
    found->place.fail(fmt::format("'{}.{}' must be one path: each program is an entry of its own",
                                  external::kBackendName, external::kProgramKey));
  }
  request.program = folder / read_text(found->values.front(), external::kProgramKey);
  request.parameters.erase(found);
}

std::set<std::string> read_optional(const ConfigNode& node,
                                    const std::vector<BackendRequest>& backends) {
  if (!node.is_sequence() || node.children.empty()) {
    node.fail(fmt::format("'optional' must be a list of backends' names, not {}",
                          node.is_sequence() ? "an empty one" : node.kind_text()));
  }
  std::set<std::string> names;
  for (const BackendRequest& backend : backends) names.insert(backend.name);
  std::set<std::string> seen;
  for (const ConfigNode& child : node.children) {
    const std::string name = read_text(child, "optional");
    if (!names.contains(name)) {
      child.fail(fmt::format("the optional '{}' is not among the backends{}", name,
                             suggestion(name, {names.begin(), names.end()})));
    }
    if (!seen.insert(name).second) child.fail(fmt::format("'optional' has '{}' twice", name));
  }
  return seen;
}

}  // namespace lloyd::experiment
