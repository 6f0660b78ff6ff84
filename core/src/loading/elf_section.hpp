// Reads one section of a shared library's file without loading the library.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

namespace lloyd {

/// The first bytes, at most `limit`, of the section `name` of a 64-bit ELF shared library for this
/// machine. Every offset is checked against the size of the file. Throws InputError, with the
/// file's name, if the file cannot be read, is not such a library, or has no such section. In the
/// last case, the message says that the file is not `kind`, such as "a Lloyd plugin".
std::vector<std::byte> read_elf_section(const std::filesystem::path& file, std::string_view name,
                                        std::string_view kind, std::size_t limit);

}  // namespace lloyd
