// BackendChoice: selects the backend of a call by name, for programs without a registry of their
// own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <lloyd/parameter_set.hpp>
#include <lloyd/registry.hpp>

namespace lloyd {

/// Which backend does the work, and with which parameters.
struct BackendChoice {
  std::string name = {};  ///< empty: the available backend with the highest preference
  /// Values by name, as ParameterSet::set() reads them; the others have their defaults.
  std::map<std::string, std::string> parameters = {};
  /// Folders, which must exist, that are searched for plugins before Registry::default_folders().
  std::vector<std::filesystem::path> plugin_folders = {};
  /// kCapability... bits that the backend must have if no name is given.
  std::uint64_t required_capabilities = 0;
};

/// Finds and loads the chosen backend into this process. Plugins are searched for and loaded once
/// per process and list of folders, and are kept until the process ends. May be called by several
/// threads at once. Throws InputError if a folder of the choice is no folder, if there is no such
/// backend, if its plugin is refused, or if it is not available on this machine.
std::shared_ptr<const LoadedBackend> load_backend(const BackendChoice& choice = {});

/// The parameters of a loaded backend: its defaults, with those of the choice. Throws InputError
/// for an unknown name or an invalid value. For a name that resembles none of the backend's, the
/// other plugins of the choice are loaded too, and the message names those with such a parameter.
ParameterSet parameters_of(const LoadedBackend& backend, const BackendChoice& choice);

}  // namespace lloyd
