// The extension by which a data file's format is chosen.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>

namespace lloyd {

/// The file's extension with its dot, in small letters; of a name that ends in .gz, with the one
/// before: ".csv.gz".
inline std::string small_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return extension == ".gz" ? small_extension(file.stem()) + extension : extension;
}

}  // namespace lloyd
