// Completion scripts for shells.
#pragma once

#include <string>
#include <string_view>

#include "manual/command_description.hpp"

namespace lloyd::apps {

/// A script that completes commands, options, enumerated values and file names of `lloyd`. `shell`
/// is "bash", "zsh" or "fish". Throws InputError for another shell.
std::string completion_script(std::string_view shell, const CommandDescription& program);

}  // namespace lloyd::apps
