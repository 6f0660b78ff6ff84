// Man pages of the commands.
#pragma once

#include <string>

#include "manual/command_description.hpp"

namespace lloyd::apps {

/// The name of a command's page in section 1: "lloyd", "lloyd-data-blobs".
std::string page_name(const CommandDescription& command);

/// The page of a command in the language of man(7). `program`: the description of the program,
/// whose options every command accepts.
std::string man_page(const CommandDescription& command, const CommandDescription& program);

}  // namespace lloyd::apps
