// Options of every subcommand that runs one backend.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lloyd/parameters.hpp>
#include <lloyd/registry.hpp>

namespace lloyd::apps {

struct ChosenBackend {
  std::shared_ptr<const LoadedBackend> backend;
  ParameterSet parameters;
};

/// Filled by the command line's parser.
struct BackendOptions {
  std::string name;
  std::vector<std::string> parameters;  ///< "threads=2"

  void add_to(CLI::App& command);

  /// Loads the named backend, or the preferred one, and sets its parameters. Throws InputError.
  ChosenBackend choose(Registry& registry) const;
};

}  // namespace lloyd::apps
