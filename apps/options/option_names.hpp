// Names of options in messages about data files.
#pragma once

#include <string>

namespace lloyd::apps {

/// Replaces the library's names of its options, such as "the header option", and of its functions
/// with the options and commands of the command line.
std::string with_option_names(std::string message);

/// Replaces the library's names, and options of the command line, with the keys of an experiment.
std::string with_key_names(std::string message);

}  // namespace lloyd::apps
