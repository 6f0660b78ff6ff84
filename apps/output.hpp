// What the subcommands print and write in the same way.
#pragma once

#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lloyd::apps {

/// Prints to standard error, and goes on where that cannot be written.
template <class... Args>
void note(fmt::format_string<Args...> text, Args&&... args) {
  std::fputs(fmt::format(text, std::forward<Args>(args)...).c_str(), stderr);
}

/// Prints indented JSON and a line feed to standard output; bytes that are no UTF-8 are replaced.
void print_json(const nlohmann::ordered_json& json);

/// Throws InputError when an output is a file that is read; either may be empty.
void check_not_input(const std::filesystem::path& file, const std::filesystem::path& input);

/// Throws InputError unless a file of one of these extensions could be written there: its folder
/// exists, it is no folder or device itself, and it is none of `others`.
void check_output(const std::filesystem::path& file, std::initializer_list<const char*> extensions,
                  std::initializer_list<std::filesystem::path> others = {});

/// Makes a folder for results with its parents. Throws InputError.
void make_folder(const std::filesystem::path& folder);

}  // namespace lloyd::apps
