#include <lloyd/backend_choice.hpp>

#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

std::shared_ptr<const LoadedBackend> load_backend(const BackendChoice& choice) {
  static std::mutex mutex;
  // Never destroyed: the static objects of plugins may be gone before those of the core.
  static auto& registries = *new std::map<std::vector<std::filesystem::path>, Registry>;
  for (const std::filesystem::path& folder : choice.plugin_folders) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) continue;
    throw InputError(
        fmt::format("the plugin folder {} does not exist or is no folder", folder.string()));
  }
  const std::scoped_lock lock(mutex);
  const std::vector<std::filesystem::path> folders =
      Registry::default_folders(choice.plugin_folders);
  Registry& registry = registries.try_emplace(folders, folders).first->second;
  std::shared_ptr<const LoadedBackend> backend =
      choice.name.empty() ? registry.preferred() : registry.load(choice.name);
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
      throw InputError(fmt::format("backend '{}': {}", backend.name(), error.what()));
    }
  }
  return parameters;
}

}  // namespace lloyd
