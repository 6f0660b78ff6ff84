// read_ceilings: what a processor can do at most, from the output of `lloyd doctor --json`.
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

namespace lloyd::report {

/// The processor's `cpu`, and the `ceilings` as doctor prints them. Throws InputError, with the
/// file, for one that is no such output or in which nothing was measured.
nlohmann::ordered_json read_ceilings(const std::filesystem::path& file);

}  // namespace lloyd::report
