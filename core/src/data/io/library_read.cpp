#include <lloyd/data/library_read.hpp>

#include <atomic>

namespace lloyd {
namespace {

constinit thread_local std::atomic<const char*> file_of_thread{nullptr};
constinit thread_local std::atomic<const char*> output_of_thread{nullptr};

}  // namespace

LibraryRead::LibraryRead(const char* path) {
  file_of_thread = path;
}

LibraryRead::~LibraryRead() {
  file_of_thread = nullptr;
}

LibraryWrite::LibraryWrite(const char* path) {
  output_of_thread = path;
}

LibraryWrite::~LibraryWrite() {
  output_of_thread = nullptr;
}

const char* file_read_by_library() noexcept {
  return file_of_thread;
}

const char* file_written_by_library() noexcept {
  return output_of_thread;
}

}  // namespace lloyd
