#include "data/npy/npy_mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {
namespace {

// Maps the pages of a file at once; since Linux 5.14. Headers may be older.
constexpr int kPopulateRead = 22;

}  // namespace

std::unique_ptr<NpyMapping> NpyMapping::of(std::shared_ptr<const InputFile> file,
                                           std::size_t offset, std::int64_t row_bytes) {
  const auto size = static_cast<std::size_t>(file->size());
  void* const begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
  if (begin == MAP_FAILED) return nullptr;
  return std::unique_ptr<NpyMapping>(
      new NpyMapping(std::move(file), static_cast<char*>(begin), offset, row_bytes));
}

NpyMapping::NpyMapping(std::shared_ptr<const InputFile> file, char* begin, std::size_t offset,
                       std::int64_t row_bytes)
    : file_(std::move(file)), begin_(begin), offset_(offset), row_bytes_(row_bytes) {
  const auto size = static_cast<std::size_t>(file_->size());
  try {
    registered_.emplace(file_->path(), file_->descriptor(), file_->stamp(), begin_, size);
  } catch (...) {
    ::munmap(begin_, size);
    throw;
  }
}

NpyMapping::~NpyMapping() {
  ::munmap(begin_, static_cast<std::size_t>(file_->size()));
}

int NpyMapping::advise(RowRange rows, int advice) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = offset_ + static_cast<std::size_t>(rows.begin * row_bytes_);
  const std::size_t last = offset_ + static_cast<std::size_t>(rows.end * row_bytes_);
  const std::size_t begin = first / page * page;
  int result = 0;
  do {
    result = ::madvise(begin_ + begin, last - begin, advice);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result == 0 ? 0 : errno;
}

void NpyMapping::load(RowRange rows) const {
  if (rows.size() <= 0) return;
  const int error = advise(rows, kPopulateRead);
  file_->check_unchanged();
  // Without this advice, pages are mapped when they are read.
  if (error == 0 || error == EINVAL) return;
  throw InputError(fmt::format("{}: cannot read the file: {}", file_->path(),
                               std::strerror(error == EFAULT ? EIO : error)));
}

void NpyMapping::release(RowRange rows) const {
  if (rows.size() > 0) advise(rows, MADV_DONTNEED);
}

}  // namespace lloyd
