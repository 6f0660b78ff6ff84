#include "scratch_folder.hpp"

#include <stdlib.h>
#include <string.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {

namespace {

// The folder for temporary files, as std::filesystem::temp_directory_path() chooses it, and the
// variable that names it.
std::pair<std::string, std::string> temporary_folder() {
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    const char* const folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0') return {folder, variable};
  }
  return {"/tmp", ""};
}

}  // namespace

ScratchFolder::ScratchFolder() {
  const auto [folder, variable] = temporary_folder();
  std::string path = (std::filesystem::path(folder) / "lloyd-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    throw Error(fmt::format(
        "cannot make a folder for temporary files in '{}'{}: {}; TMPDIR must name a folder that "
        "can "
        "be written",
        folder, variable.empty() ? "" : ", which " + variable + " names", ::strerror(errno)));
  }
  path_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;  // what cannot be removed stays
  std::filesystem::remove_all(path_, error);
}

}  // namespace lloyd::apps
