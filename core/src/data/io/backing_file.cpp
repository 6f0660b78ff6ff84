#include <lloyd/data/backing_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>
#include <lloyd/internal/status_text.hpp>

namespace lloyd {
namespace {

// A signal handler reads the table, so it has a fixed size and no locks. mapped_file_at() does not
// know mappings beyond the last entry.
struct MappedRange {
  std::atomic<const char*> begin{nullptr};  // written last, cleared first; null: free entry
  std::atomic<std::size_t> size{0};
  std::atomic<const char*> path{nullptr};
};

std::array<MappedRange, 64> mapped_ranges;
std::mutex mapped_ranges_mutex;  // for writers

}  // namespace

std::optional<FileStamp> read_stamp(int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return FileStamp{status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                   status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
}

void check_stamp(const std::string& path, int descriptor, const FileStamp& stamp) {
  const std::optional<FileStamp> now = read_stamp(descriptor);
  if (!now) {
    throw InputError(
        fmt::format("{}: cannot read the file's size: {}", path, std::strerror(errno)));
  }
  if (now->size < stamp.size) {
    throw InputError(
        fmt::format("{}: the file was truncated from {} to {} bytes while it was in use", path,
                    stamp.size, now->size));
  }
  if (now->size != stamp.size || now->seconds != stamp.seconds ||
      now->nanoseconds != stamp.nanoseconds) {
    throw InputError(fmt::format("{}: the file was changed while it was in use", path));
  }
}

bool status_has_changed(int descriptor, const FileStamp& stamp) {
  const std::optional<FileStamp> now = read_stamp(descriptor);
  return !now || now->status_seconds != stamp.status_seconds ||
         now->status_nanoseconds != stamp.status_nanoseconds;
}

BackingFile::BackingFile(std::string path, int descriptor, const FileStamp& stamp,
                         const void* begin, std::size_t size)
    : path_(std::move(path)),
      shown_path_(printable(path_)),
      descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)),
      stamp_(stamp),
      begin_(static_cast<const char*>(begin)) {
  if (descriptor_ < 0) {
    throw Error(fmt::format("{}: cannot keep the file open: {}", path_, descriptor_error(errno)));
  }
  const std::lock_guard lock(mapped_ranges_mutex);
  for (MappedRange& range : mapped_ranges) {
    if (range.begin.load() != nullptr) continue;
    range.size = size;
    range.path = shown_path_.c_str();
    range.begin = begin_;
    return;
  }
}

BackingFile::~BackingFile() {
  {
    const std::lock_guard lock(mapped_ranges_mutex);
    for (MappedRange& range : mapped_ranges) {
      if (range.path.load() != shown_path_.c_str()) continue;
      range.begin = nullptr;
      range.path = nullptr;
    }
  }
  ::close(descriptor_);
}

const char* mapped_file_at(const void* address) noexcept {
  const char* const at = static_cast<const char*>(address);
  for (const MappedRange& range : mapped_ranges) {
    const char* const begin = range.begin.load();
    if (begin != nullptr && at >= begin && at < begin + range.size.load()) return range.path.load();
  }
  return nullptr;
}

}  // namespace lloyd
