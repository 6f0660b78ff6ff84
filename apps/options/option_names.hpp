// Names of options in messages about data files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lloyd::apps {

/// Replaces the library's names of its options, such as "the header option", and of its functions
/// with the options and commands of the command line.
std::string with_option_names(std::string message);

/// Replaces the library's names, and options of the command line, with the keys of an experiment.
std::string with_key_names(std::string message);

/// The list as the value of an option, as in a,b or 'net price,b': one word of a shell. It begins
/// with the blank or '=' that separates it from the option.
std::string option_list(const std::vector<std::string>& elements);
/// The elements of a list in YAML, with quotes where they are needed: a, "net price".
std::string yaml_list(const std::vector<std::string>& elements);

}  // namespace lloyd::apps
