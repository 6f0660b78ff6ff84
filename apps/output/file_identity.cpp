#include "output/file_identity.hpp"

#include <sys/stat.h>

#include <lloyd/data/new_file.hpp>

namespace lloyd::apps {

FileIdentity identify(const std::filesystem::path& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) == 0) return {status.st_dev, status.st_ino, {}};
  const std::filesystem::path target = output_target(file);
  if (::stat(target.parent_path().c_str(), &status) == 0) {
    return {status.st_dev, status.st_ino, target.filename().string()};
  }
  return {0, 0, target.lexically_normal().string()};
}

FileIdentity identify(int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {status.st_dev, status.st_ino, {}};
}

}  // namespace lloyd::apps
