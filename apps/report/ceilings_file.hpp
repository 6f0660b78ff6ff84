// read_ceilings: the ceilings from the output of `lloyd doctor --json`.
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

namespace lloyd::report {

/// Returns the ceilings as doctor prints them, with the processor's model as `cpu`. Throws
/// InputError, naming the file, if it is not such output or has no measured ceilings.
nlohmann::ordered_json read_ceilings(const std::filesystem::path& file);

}  // namespace lloyd::report
