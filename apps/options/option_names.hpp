// Names of options in messages about data files.
#pragma once

#include <string>

namespace lloyd::apps {

/// Replaces "the header option" and such, as the library calls its options, by the options of the
/// command line.
std::string with_option_names(std::string message);

/// Replaces both these and options of the command line by the keys of an experiment.
std::string with_key_names(std::string message);

}  // namespace lloyd::apps
