// Programs of others as backends: what speaks the protocol of docs/external_programs.md.
#pragma once

#include <filesystem>
#include <memory>

#include <lloyd/registry.hpp>

namespace lloyd::external {

/// Asks a program for its description and makes a backend of it; its name and version are the
/// program's. The program is started again for fits, and kept until the backend ends. Throws
/// InputError, one sentence that names the program, where it is none.
std::shared_ptr<const LoadedBackend> load_program(const std::filesystem::path& file);

/// Whether a backend's file is a program, and no shared library.
bool is_program(const std::filesystem::path& file);

/// A plugin of a shared library, or a program. Throws InputError.
std::shared_ptr<const LoadedBackend> load_plugin_or_program(const std::filesystem::path& file);

}  // namespace lloyd::external
