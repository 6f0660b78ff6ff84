// What the subcommands print and write in the same way.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/internal/status_text.hpp>

#include "output/messages.hpp"
#include "output/result_stream.hpp"

namespace lloyd::apps {

/// Prints to message_descriptor(), and goes on where that cannot be written or nobody reads it.
/// Whatever a file, a plugin or an argument put into the text, a terminal is only sent what is
/// printable, and line feeds. Where there is no memory for it, the message says so instead.
template <class... Args>
void note(fmt::format_string<Args...> text, Args&&... args) {
  try {
    write_message(printable_lines(fmt::format(text, std::forward<Args>(args)...)));
  } catch (const std::bad_alloc&) {
    write_message("lloyd: out of memory: there is none for a message\n");
  }
}

/// The same to result_descriptor(). Throws where that cannot be written.
template <class... Args>
void print_text(fmt::format_string<Args...> text, Args&&... args) {
  write_result(printable_lines(fmt::format(text, std::forward<Args>(args)...)));
}

/// Prints indented JSON and a line feed to result_descriptor(); bytes that are no UTF-8 are
/// replaced.
void print_json(const nlohmann::ordered_json& json);

/// Throws InputError unless the file has one of these extensions, in small or capital letters.
/// Passes over an empty path.
void check_extension(const std::filesystem::path& file,
                     std::initializer_list<const char*> extensions);

/// The rule of every command, before its work begins: what it reads is not what it writes, whatever
/// the paths. Standard output and standard error are outputs too, and may be one file. Throws
/// InputError where an output is an input, and where two outputs are one file. Empty paths are
/// passed over. Where standard error goes to one of the files, messages go to standard output from
/// then on, or nowhere where that is one of them too.
void refuse_overwriting(const std::vector<std::filesystem::path>& outputs,
                        const std::vector<std::filesystem::path>& inputs);

/// Makes and removes a temporary file where each output would be written, so that no work is done
/// in vain. Throws as NewFile does. Empty paths are passed over.
void try_outputs(const std::vector<std::filesystem::path>& outputs);

/// The path from the root, so that the file stays where it is when a plugin changes the working
/// directory. An empty path stays empty. Throws InputError where the working directory is gone.
std::filesystem::path absolute_path(const std::filesystem::path& file);

/// Makes a folder for results with its parents. Throws InputError.
void make_folder(const std::filesystem::path& folder);

}  // namespace lloyd::apps
