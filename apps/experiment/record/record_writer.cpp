#include "experiment/record/record_writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>

namespace lloyd::experiment {
namespace {

std::string error_text() {
  return descriptor_error(errno);
}

std::string folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path().string() : ".";
}

// Syncs the parent folders of a file: a new file, or a new folder, is durable only after its parent
// folder is synced. Which folders are new is not known, but all of them are on one file system: a
// mount point and the folders above it existed before.
void sync_folders(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(file, error);
  std::optional<dev_t> file_system;
  while (path.has_relative_path()) {
    path = path.parent_path();
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) return;
    if (!file_system) file_system = status.st_dev;
    if (status.st_dev != *file_system) return;
    // A folder with search but without read permission cannot be opened.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) continue;
    const int failure = ::fsync(descriptor) == 0 ? 0 : errno;
    ::close(descriptor);
    // EINVAL: this file system cannot sync folders.
    if (failure == 0 || failure == EINVAL) continue;
    throw InputError(fmt::format("cannot write the folder {} to the disk: {}", path.string(),
                                 std::strerror(failure)));
  }
}

// Returns the offset after the last line feed before `end`; 0 if there is none, -1 on a read error.
// Searches back by the maximum record size only and returns the offset where it stopped.
off_t end_of_last_line(int descriptor, off_t end) {
  std::array<char, 4096> block;
  const off_t first = std::max<off_t>(0, end - kMaxRecordBytes - 1);
  while (end > first) {
    const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(block.size()));
    const auto size = static_cast<std::size_t>(end - begin);
    if (::pread(descriptor, block.data(), size, begin) != static_cast<ssize_t>(size)) return -1;
    for (std::size_t i = size; i > 0; --i) {
      if (block[i - 1] == '\n') return begin + static_cast<off_t>(i);
    }
    end = begin;
  }
  return end;
}

// Returns false if another writer holds the lock. Retries, since is_being_written() holds the lock
// briefly. A file system without locks counts as unlocked.
bool lock_for_writing(int descriptor) {
  constexpr int kAttempts = 20;
  constexpr std::chrono::milliseconds kBetweenAttempts{10};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
    std::this_thread::sleep_for(kBetweenAttempts);
  }
  return false;
}

}  // namespace

std::string record_line(const Record& record) {
  using nlohmann::ordered_json;
  return to_json(record).dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

bool is_being_written(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return locked;
}

RecordWriter::RecordWriter(const std::filesystem::path& file) : file_(file) {
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw InputError(fmt::format("cannot open {}: {}", file.string(), error_text()));
  }
  try {
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      throw InputError(fmt::format("{}: is not a regular file", file.string()));
    }
    if (!lock_for_writing(descriptor_)) {
      throw InputError(fmt::format(
          "another run is writing to {}: wait until it ends, or give another folder with --output",
          folder_of(file)));
    }
    // An empty file may be left by another run that ended before this sync.
    if (::lseek(descriptor_, 0, SEEK_END) == 0) sync_folders(file);
    repair();
    end_ = ::lseek(descriptor_, 0, SEEK_END);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

RecordWriter::~RecordWriter() {
  ::close(descriptor_);
}

void RecordWriter::repair() {
  const off_t size = ::lseek(descriptor_, 0, SEEK_END);
  const off_t keep = size < 0 ? -1 : end_of_last_line(descriptor_, size);
  if (keep < 0) throw InputError(fmt::format("cannot read {}: {}", file_.string(), error_text()));
  if (keep == size) return;
  if (size - keep > kMaxRecordBytes) {
    throw InputError(
        fmt::format("{}: its last line is longer than {} MiB, the maximum length of a record: give "
                    "another folder with --output",
                    file_.string(), kMaxRecordBytes >> 20));
  }
  std::string piece(static_cast<std::size_t>(size - keep), '\0');
  if (::pread(descriptor_, piece.data(), piece.size(), keep) != size - keep) {
    throw InputError(fmt::format("cannot read {}: {}", file_.string(), error_text()));
  }
  if (nlohmann::ordered_json::accept(piece)) {
    // A whole record that lacks only its line feed.
    if (::write(descriptor_, "\n", 1) == 1) return;
  } else if (!is_torn_record(piece)) {
    throw InputError(
        fmt::format("{}: its last line, of {} bytes, has no line feed and is not part of a record: "
                    "end it with a "
                    "line feed, or give another folder with --output",
                    file_.string(), size - keep));
  } else if (::ftruncate(descriptor_, keep) == 0) {
    note_ = fmt::format(
        "{}: cut off an incomplete last record of {} bytes, left by a run that was "
        "killed",
        file_.string(), size - keep);
    return;
  }
  throw InputError(fmt::format("cannot repair {}: {}", file_.string(), error_text()));
}

void RecordWriter::look_for_interference() {
  if (!interference_.empty()) return;
  struct stat opened = {};
  struct stat named = {};
  if (::fstat(descriptor_, &opened) != 0) return;
  if (::stat(file_.c_str(), &named) != 0 || named.st_dev != opened.st_dev ||
      named.st_ino != opened.st_ino) {
    interference_ =
        fmt::format("{} was replaced or removed while the run wrote to it", file_.string());
  } else if (opened.st_size != end_) {
    interference_ =
        fmt::format("another program {} {} while the run wrote to it",
                    opened.st_size > end_ ? "appended to" : "truncated", file_.string());
  }
}

const std::string& RecordWriter::interference() {
  look_for_interference();
  return interference_;
}

void RecordWriter::append(const Record& record) {
  look_for_interference();
  std::string line = record_line(record);
  const std::size_t bytes = line.size() - 1;  // without the line feed
  if (bytes > static_cast<std::size_t>(kMaxRecordBytes)) {
    throw Error(fmt::format(
        "cannot append a record to {}: it takes {} bytes, and a record is read up to {} MiB only",
        file_.string(), bytes, kMaxRecordBytes >> 20));
  }
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  char last = '\n';
  if (before > 0 && before != end_ && ::pread(descriptor_, &last, 1, before - 1) == 1 &&
      last != '\n') {
    line.insert(0, 1, '\n');
  }
  ssize_t written = 0;
  do {
    written = ::write(descriptor_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size()) && ::fdatasync(descriptor_) == 0) {
    end_ = before + written;
    return;
  }
  // A short write means a full disk, or a limit that the next write would report.
  std::string reason = written >= 0 && written < static_cast<ssize_t>(line.size())
                           ? "no space is left"
                           : error_text();
  if (before < 0 || ::ftruncate(descriptor_, before) != 0) {
    reason += fmt::format("; its last line may be incomplete ({})", error_text());
  }
  throw Error(fmt::format("cannot append a record to {}: {}", file_.string(), reason));
}

}  // namespace lloyd::experiment
