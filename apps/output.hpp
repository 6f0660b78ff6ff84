// What the subcommands print and write in the same way.
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

namespace lloyd::apps {

/// Prints indented JSON and a line feed to standard output; bytes that are no UTF-8 are replaced.
void print_json(const nlohmann::ordered_json& json);

/// Makes a folder for results with its parents. Throws InputError.
void make_folder(const std::filesystem::path& folder);

}  // namespace lloyd::apps
