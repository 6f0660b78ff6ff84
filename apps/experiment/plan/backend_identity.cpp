#include "experiment/plan/backend_identity.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>

#include "text/names.hpp"

namespace lloyd::experiment {

BackendIdentity identity_of(const LoadedBackend& backend) {
  BackendIdentity identity{{"name", backend.name()},
                           {"version", backend.version()},
                           {"algorithm", backend.info().algorithm}};
  for (const DType dtype : {DType::float32, DType::float64}) {
    const std::string_view data = apps::to_string(dtype);
    identity[fmt::format("accuracy for {}", data)] = apps::to_string(backend.accuracy(dtype));
    identity[fmt::format("reproducibility for {}", data)] =
        apps::to_string(backend.reproducibility(dtype));
  }
  std::vector<std::string> parameters;
  const ParameterSet defaults = backend.default_parameters();
  for (const ParameterInfo& parameter : defaults.schema()) parameters.emplace_back(parameter.name);
  identity["parameters"] = fmt::format("{}", fmt::join(parameters, " "));
  return identity;
}

void check_same(const BackendIdentity& planned, const BackendIdentity& now) {
  std::vector<std::string> changes;
  for (const auto& [name, value] : planned) {
    const auto found = now.find(name);
    const std::string other = found == now.end() ? std::string() : found->second;
    if (other != value) changes.push_back(fmt::format("{} '{}', was '{}'", name, other, value));
  }
  if (changes.empty()) return;
  throw Error(fmt::format("it has changed since the run began: {}", fmt::join(changes, "; ")));
}

}  // namespace lloyd::experiment
