#include "options/backend_options.hpp"

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "options/context.hpp"
#include "supervision/supervision.hpp"
#include "text/synonyms.hpp"

namespace lloyd::apps {
namespace {

void check_available(const LoadedBackend& backend) {
  if (backend.available()) return;
  throw InputError(
      fmt::format("the backend '{}' is not available: {}", backend.name(), backend.unavailable()));
}

std::shared_ptr<const LoadedBackend> load(Registry& registry, const std::string& name) {
  try {
    return registry.load(name);
  } catch (const InputError& error) {
    if (program_for(name).empty()) throw;
    throw InputError(fmt::format(
        "{}; '{}' is an external program, which 'lloyd run' compares with backends: see "
        "docs/external_programs.md",
        error.what(), name));
  }
}

// Path of the backend's plugin. The describing processes have ended on return, so they hold no
// device memory.
std::filesystem::path find(const Context& context, const std::string& name) {
  isolated::IsolatedPlugins plugins(context.plugin_limit());
  Registry registry = context.registry(plugins);
  const auto backend = name.empty() ? registry.preferred() : load(registry, name);
  check_available(*backend);
  return backend->path();
}

}  // namespace

void BackendOptions::add_to(CLI::App& command) {
  command.add_option("-b,--backend", name,
                     "The backend to use (default: the available one with the highest preference)");
  command.add_option("-p,--param", parameters,
                     "Set a parameter of the backend: NAME=VALUE (may be repeated)");
}

ChosenBackend BackendOptions::choose(const Context& context) const {
  auto backend = load_supervised(find(context, name));
  check_available(*backend);
  ParameterSet values = backend->default_parameters();
  std::set<std::string> given;
  for (const std::string& parameter : parameters) {
    const std::size_t equals = parameter.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError(fmt::format("--param is '{}'; it must be NAME=VALUE", parameter));
    }
    if (!given.insert(parameter.substr(0, equals)).second) {
      throw InputError(fmt::format("--param gives '{}' twice", parameter.substr(0, equals)));
    }
    try {
      values.set(parameter.substr(0, equals), parameter.substr(equals + 1));
    } catch (const InputError& error) {
      throw InputError(fmt::format("--param of backend '{}': {}", backend->name(), error.what()));
    }
  }
  return {std::move(backend), std::move(values), std::move(given)};
}

}  // namespace lloyd::apps
