// External programs as backends; the protocol is in docs/external_programs.md.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <lloyd/registry.hpp>

namespace lloyd::external {

/// Runs `PROGRAM describe` and makes a backend with the name and version of the description. For
/// fits, the program is started again and runs until the backend is released. Throws InputError,
/// one sentence that names the program, if it cannot be executed or its description is invalid;
/// Error if no process or descriptor is left.
std::shared_ptr<const LoadedBackend> load_program(const std::filesystem::path& file);

/// True if a backend's file is a program, not a shared library (by its extension, .so).
bool is_program(const std::filesystem::path& file);

/// Sets the time limit for answering `close`; the default is one minute. No effect on a plugin.
void set_close_limit(const LoadedBackend& backend, std::chrono::milliseconds limit);

/// Returns and clears the error, one sentence, of closing the last session of a program's backend.
/// Empty if there was none, and for a plugin.
std::string take_close_failure(const LoadedBackend& backend);

/// True if the backend is a program that can load its packages ahead of its first session.
bool prepares(const LoadedBackend& backend);

/// Lets such a program start and load its packages, and returns when it is ready; does nothing for
/// other backends. A failure is reported by the first session, which starts the program again.
void prepare(const LoadedBackend& backend);

/// Loads a plugin or a program, see is_program(). Throws InputError.
std::shared_ptr<const LoadedBackend> load_plugin_or_program(const std::filesystem::path& file);

}  // namespace lloyd::external
