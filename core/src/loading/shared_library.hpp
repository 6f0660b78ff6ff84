// Loads shared libraries for the rest of the process.
#pragma once

#include <filesystem>

#include <boost/dll/shared_library.hpp>

namespace lloyd {

/// `global`: libraries that are loaded later can use the symbols of the library and of the
/// libraries that it needs. `local`: they cannot.
enum class SymbolScope { local, global };

/// Loads a library and resolves all its symbols. It is never unloaded: unloading one whose threads
/// still run, such as an OpenMP thread pool, can crash. `file` is an absolute path. Throws
/// InputError with the file's name and the message of the dynamic linker. Thread-safe.
const boost::dll::shared_library& load_library(const std::filesystem::path& file,
                                               SymbolScope scope);

}  // namespace lloyd
