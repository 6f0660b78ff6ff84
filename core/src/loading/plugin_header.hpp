// Reads and checks the start of a plugin's descriptor, for all kinds of plugins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include <lloyd/plugin/abi/abi.hpp>

namespace lloyd {

/// The text of a field, up to its first zero or the end of its array.
template <std::size_t Size>
std::string text_of_field(const char (&field)[Size]) {
  return {field, std::find(field, field + Size, '\0')};
}

/// A kind of plugin.
struct PluginKind {
  const char* section;      ///< ELF section of the descriptor
  const char* symbol;       ///< exported name of the descriptor
  const char* description;  ///< for messages: "a Lloyd plugin"
  const char* named_thing;  ///< what the name in the header belongs to, for messages: "backend"
};

/// Reads the header from the file, without loading the library. `header` begins with a
/// PluginHeader. Throws InputError, with the file, the value found and the one expected, unless the
/// file is a plugin of this kind that this program can load.
void read_header(const std::filesystem::path& file, const PluginKind& kind,
                 std::span<std::byte> header);

/// Loads the library and returns its descriptor. `global`: libraries that are loaded later can use
/// its symbols. Throws InputError unless the descriptor begins with `header`, which read_header()
/// has read.
const void* load_descriptor(const std::filesystem::path& file, const PluginKind& kind,
                            std::span<const std::byte> header, bool global);

}  // namespace lloyd
