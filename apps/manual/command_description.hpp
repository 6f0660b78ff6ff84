// CommandDescription: the commands and options of the program, read from its command-line parser.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace lloyd::apps {

/// An option or a positional argument.
struct ArgumentDescription {
  std::vector<std::string> names;    ///< {"-k", "--clusters"}; of a positional argument {"DATA"}
  bool takes_value = false;          ///< false for a flag
  bool takes_folder = false;         ///< the value is the path of a folder
  std::vector<std::string> choices;  ///< the possible values; empty if these are not enumerated
  bool required = false;
  std::string text;      ///< its description
  std::string fallback;  ///< default value; empty if the parser shows none
};

/// A command with all that it contains. Hidden commands are left out.
struct CommandDescription {
  std::vector<std::string> path;  ///< {"data", "blobs"}; empty for the program itself
  std::string text;               ///< its description
  std::string footer;             ///< further paragraphs of its help
  std::vector<ArgumentDescription> options;
  std::vector<ArgumentDescription> positionals;
  std::vector<CommandDescription> commands;

  /// "data blobs"; empty for the program itself.
  std::string name() const;
};

CommandDescription describe_command(const CLI::App& app);

/// `command` and all commands that it contains, each before its own.
std::vector<const CommandDescription*> all_commands(const CommandDescription& command);

}  // namespace lloyd::apps
