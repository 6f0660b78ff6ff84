// Programs of others as backends: what speaks the protocol of docs/external_programs.md.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <lloyd/registry.hpp>

namespace lloyd::external {

/// Asks a program for its description and makes a backend of it; its name and version are the
/// program's. The program is started again for fits, and kept until the backend ends. Throws
/// InputError, one sentence that names the program, where it is none; Error where this machine has
/// no process or descriptor left for it.
std::shared_ptr<const LoadedBackend> load_program(const std::filesystem::path& file);

/// Whether a backend's file is a program, and no shared library.
bool is_program(const std::filesystem::path& file);

/// How long the program of a backend may take to answer `close`, from now on; a minute unless this
/// is called. No effect on a plugin.
void set_close_limit(const LoadedBackend& backend, std::chrono::milliseconds limit);

/// What went wrong when the last session of a program's backend was closed, one sentence, which is
/// told once. Empty where nothing did, and for a plugin.
std::string take_close_failure(const LoadedBackend& backend);

/// A plugin of a shared library, or a program. Throws InputError.
std::shared_ptr<const LoadedBackend> load_plugin_or_program(const std::filesystem::path& file);

}  // namespace lloyd::external
