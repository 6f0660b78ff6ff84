// Options of every subcommand that runs one backend.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lloyd/parameter_set.hpp>
#include <lloyd/registry.hpp>

namespace lloyd::apps {

struct Context;

struct ChosenBackend {
  std::shared_ptr<const LoadedBackend> backend;
  ParameterSet parameters;
  std::set<std::string> given{};  ///< names of the parameters that the command line sets
};

/// Filled by the command line's parser.
struct BackendOptions {
  std::string name;
  std::vector<std::string> parameters;  ///< "threads=2"

  void add_to(CLI::App& command);

  /// Finds the named backend, or the preferred one if `name` is empty, loads its plugin into this
  /// process, and sets its parameters. Candidates are first loaded in separate processes. Call it
  /// in a supervised process, see supervision.hpp. Throws InputError.
  ChosenBackend choose(const Context& context) const;
};

}  // namespace lloyd::apps
