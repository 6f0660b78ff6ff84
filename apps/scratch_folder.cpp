#include "scratch_folder.hpp"

#include <stdlib.h>
#include <string.h>

#include <cerrno>
#include <string>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {

ScratchFolder::ScratchFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "lloyd-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    throw Error(fmt::format("cannot make the folder {}: {}", path, ::strerror(errno)));
  }
  path_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;  // what cannot be removed stays
  std::filesystem::remove_all(path_, error);
}

}  // namespace lloyd::apps
