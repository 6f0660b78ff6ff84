#include <lloyd/backend_choice.hpp>

#include <algorithm>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/suggestion.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

namespace lloyd {
namespace {

// The registries of this process, by their folders. Hold the mutex while one of them is used.
struct Registries {
  std::mutex mutex;
  std::map<std::vector<std::filesystem::path>, Registry> by_folders;

  Registry& of(const BackendChoice& choice) {
    const std::vector<std::filesystem::path> folders =
        Registry::default_folders(choice.plugin_folders);
    return by_folders.try_emplace(folders, folders).first->second;
  }
};

Registries& registries() {
  // Never destroyed: the static objects of plugins may be gone before those of the core.
  static auto& all = *new Registries;
  return all;
}

bool has_parameter(const ParameterSet& parameters, std::string_view name) {
  const std::vector<ParameterInfo>& schema = parameters.schema();
  return std::any_of(schema.begin(), schema.end(),
                     [&](const ParameterInfo& parameter) { return name == parameter.name; });
}

// The end of a message about a parameter that a backend does not have: the backends that have it.
// Empty if there are none, or if the name is similar to one of the backend's own: a misspelt name
// is no reason to load the other plugins.
std::string other_owners(const ParameterSet& parameters, const std::string& name,
                         const BackendChoice& choice) {
  std::vector<std::string> own;
  for (const ParameterInfo& parameter : parameters.schema()) own.emplace_back(parameter.name);
  if (!nearest_name(name, own).empty()) return {};
  std::vector<std::string> owners;
  const std::scoped_lock lock(registries().mutex);
  for (const auto& backend : registries().of(choice).load_all()) {
    if (has_parameter(backend->default_parameters(), name)) owners.push_back(backend->name());
  }
  if (owners.empty()) return {};
  return fmt::format("; {} {} a parameter of this name", enumerated(owners, "and"),
                     owners.size() == 1 ? "has" : "have");
}

}  // namespace

std::shared_ptr<const LoadedBackend> load_backend(const BackendChoice& choice) {
  const FloatEnvironment environment;
  for (const std::filesystem::path& folder : choice.plugin_folders) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) continue;
    throw InputError(
        fmt::format("the plugin folder {} does not exist or is no folder", folder.string()));
  }
  const std::scoped_lock lock(registries().mutex);
  Registry& registry = registries().of(choice);
  std::shared_ptr<const LoadedBackend> backend =
      choice.name.empty() ? registry.preferred(choice.required_capabilities)
                          : registry.load(choice.name);
  if (!backend->available()) {
    throw InputError(fmt::format("the backend '{}' is not available: {}", backend->name(),
                                 backend->unavailable()));
  }
  return backend;
}

ParameterSet parameters_of(const LoadedBackend& backend, const BackendChoice& choice) {
  ParameterSet parameters = backend.default_parameters();
  for (const auto& [name, value] : choice.parameters) {
    try {
      parameters.set(name, value);
    } catch (const InputError& error) {
      const bool is_unknown = !has_parameter(parameters, name);
      throw InputError(fmt::format("backend '{}': {}{}", backend.name(), error.what(),
                                   is_unknown ? other_owners(parameters, name, choice) : ""));
    }
  }
  return parameters;
}

}  // namespace lloyd
