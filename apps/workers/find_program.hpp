// Finds a program in PATH; relative folders in PATH are ignored.
#pragma once

#include <filesystem>
#include <string>

namespace lloyd::apps {

/// True for a regular file that this process may execute.
bool is_program(const std::filesystem::path& file);

/// The absolute path of a program: `name` itself if it has a slash, otherwise the first match in
/// the absolute folders of PATH. Empty if there is none.
std::filesystem::path find_program(const std::string& name);

}  // namespace lloyd::apps
