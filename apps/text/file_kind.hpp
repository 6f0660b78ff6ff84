// file_kind: what a file is by its name, for messages about files of another kind.
#pragma once

#include <filesystem>
#include <string>

namespace lloyd::apps {

/// "a data file", "the YAML file of an experiment", "a file of records", "a .json file, as models
/// of 'lloyd fit' are" or "a page of 'lloyd report'", by the extension; empty for any other.
std::string file_kind(const std::filesystem::path& file);

}  // namespace lloyd::apps
