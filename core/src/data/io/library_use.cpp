#include <lloyd/data/library_use.hpp>

#include <atomic>

namespace lloyd {
namespace {

constinit thread_local std::atomic<const char*> file_read{nullptr};
constinit thread_local std::atomic<const char*> file_written{nullptr};

std::atomic<const char*>& file_of(FileUse use) noexcept {
  return use == FileUse::reading ? file_read : file_written;
}

}  // namespace

LibraryUse::LibraryUse(FileUse use, const char* path) : use_(use) {
  file_of(use) = path;
}

LibraryUse::~LibraryUse() {
  file_of(use_) = nullptr;
}

const char* file_used_by_library(FileUse use) noexcept {
  return file_of(use);
}

}  // namespace lloyd
