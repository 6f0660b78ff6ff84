// Reads one section of a shared library from the file, without loading it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

namespace lloyd {

/// The first bytes, at most `limit`, of the section `name` of a 64-bit ELF shared library for this
/// machine. Every offset is checked against the file's size. Throws InputError, naming the file,
/// when it cannot be read, is something else, or has no such section.
std::vector<std::byte> read_elf_section(const std::filesystem::path& file, std::string_view name,
                                        std::size_t limit);

}  // namespace lloyd
