#include "workers/find_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace lloyd::apps {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return is_program(name) ? fs::absolute(name) : fs::path();
  }
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    if (!folder.starts_with('/')) continue;
    fs::path file = fs::path(folder) / name;
    if (is_program(file)) return file;
  }
  return {};
}

}  // namespace lloyd::apps
