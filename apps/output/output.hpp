// Printing and writing, common to all subcommands.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/internal/status_text.hpp>

#include "output/colour.hpp"
#include "output/messages.hpp"
#include "output/result_stream.hpp"

namespace lloyd::apps {

/// Prints to message_descriptor(); errors are ignored. Only printable characters and line feeds are
/// sent, whatever files, plugins or arguments put into the text. If memory runs out, a message
/// about that is printed instead. On a terminal, the prefix of a warning is coloured.
template <class... Args>
void note(fmt::format_string<Args...> text, Args&&... args) {
  try {
    write_message(
        highlight_warning(printable_lines(fmt::format(text, std::forward<Args>(args)...))));
  } catch (const std::bad_alloc&) {
    write_message("lloyd: out of memory: there is none for a message\n");
  }
}

/// Prints each as a line that begins with "lloyd: warning: ".
inline void note_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) note("lloyd: warning: {}\n", warning);
}

/// Like note(), but to result_descriptor(). Throws if it cannot be written.
template <class... Args>
void print_text(fmt::format_string<Args...> text, Args&&... args) {
  write_result(printable_lines(fmt::format(text, std::forward<Args>(args)...)));
}

/// Prints indented JSON and a line feed to result_descriptor(); bytes that are not UTF-8 are
/// replaced. Throws if it cannot be written.
void print_json(const nlohmann::ordered_json& json);

/// Throws InputError if the path of an output is '-', which other programs take for standard
/// output. `extensions`: those that the file may have, for the message.
void refuse_hyphen(const std::filesystem::path& file, const std::string& extensions);

/// Throws InputError unless the file has one of the extensions, in lower or upper case, and as
/// refuse_hyphen() does. An empty path is ignored.
void check_extension(const std::filesystem::path& file,
                     std::initializer_list<const char*> extensions);

/// Every command calls this before its work begins. Throws InputError if an output is the same file
/// as an input or another output, whatever the paths (FileIdentity). Standard output and standard
/// error count as outputs; only these two may be the same file. Empty paths are ignored. If
/// standard error is redirected to one of the files, messages go to standard output from then on,
/// or are dropped if that is one of the files too.
void refuse_overwriting(const std::vector<std::filesystem::path>& outputs,
                        const std::vector<std::filesystem::path>& inputs);

/// Checks before the work that all outputs can be written: creates and removes a temporary file
/// beside each. Throws as NewFile does. Empty paths are ignored.
void try_outputs(const std::vector<std::filesystem::path>& outputs);

/// Makes a path absolute, so that it stays valid if a plugin changes the working directory. An
/// empty path stays empty. Throws InputError if the working directory does not exist any more.
std::filesystem::path absolute_path(const std::filesystem::path& file);

/// Creates a folder for results and its parents. Throws InputError.
void make_folder(const std::filesystem::path& folder);

}  // namespace lloyd::apps
