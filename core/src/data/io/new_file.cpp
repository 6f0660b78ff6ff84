#include <lloyd/data/new_file.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "data/io/temporary_names.hpp"

namespace lloyd {
namespace {

namespace fs = std::filesystem;

// Paths of the temporary files. A signal handler reads them, so they are in a fixed table. A file
// that finds no free slot, or whose path is too long, is not removed by a signal.
constexpr std::size_t kSlots = 16;
constexpr std::size_t kMaxPath = 4096;

struct Slot {
  enum State : int { free, reserved, filled };
  std::atomic<int> state{free};
  pid_t owner = 0;  // a forked child inherits the slots, but must not remove the files
  char path[kMaxPath] = {};
};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<Slot, kSlots> slots;

// Stores a path and returns its slot; kSlots if it cannot be stored.
std::size_t remember(const std::string& path) {
  if (path.size() >= kMaxPath) return kSlots;
  for (std::size_t i = 0; i < kSlots; ++i) {
    int expected = Slot::free;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::reserved)) continue;
    slots[i].owner = ::getpid();
    path.copy(slots[i].path, path.size());
    slots[i].path[path.size()] = '\0';
    slots[i].state = Slot::filled;
    return i;
  }
  return kSlots;
}

void forget(std::size_t slot) {
  if (slot < kSlots) slots[slot].state = Slot::free;
}

// Removes files that killed processes have left in a folder, once per process.
void clean_once(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> cleaned;
  {
    const std::lock_guard lock(mutex);
    if (!cleaned.insert(folder).second) return;
  }
  remove_leftovers(folder);
}

// Device and inode of each ProtectedFile.
std::multiset<std::pair<dev_t, ino_t>> protected_files;

bool is_protected(const fs::path& file) {
  struct stat status = {};
  return ::stat(file.c_str(), &status) == 0 &&
         protected_files.contains({status.st_dev, status.st_ino});
}

std::string unwritable(const fs::path& file, std::string_view reason) {
  return fmt::format("{}: cannot write the file: {}", file.string(), reason);
}

// True if an error is a shortage of resources rather than a wrong path.
bool is_shortage(int error) {
  for (const int shortage : {ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM}) {
    if (error == shortage) return true;
  }
  return false;
}

// The message for a file that could not be created; `file` is the path as it was given.
std::string creation_error(const fs::path& file, const fs::path& target, int error) {
  std::error_code ignored;
  if (!fs::is_directory(target.parent_path(), ignored)) {
    const bool as_given = file.has_parent_path() && !fs::is_symlink(file, ignored);
    const fs::path folder = as_given ? file.parent_path() : target.parent_path();
    return fmt::format("{} is not a folder", folder.string());
  }
  std::string reason = descriptor_error(error);
  if (error != EACCES && error != EPERM && error != EROFS) return reason;
  // This applies even if the existing file is writable itself.
  return fmt::format("{}; it must be possible to create files in its folder, {}", reason,
                     target.parent_path().string());
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < (std::uint64_t{1} << 20)) return fmt::format("{} bytes", bytes);
  auto size = static_cast<double>(bytes) / 0x1p20;
  const char* unit = "MiB";
  for (const char* next : {"GiB", "TiB", "PiB", "EiB"}) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  return fmt::format("{:.1f} {}", size, unit);
}

}  // namespace

fs::path output_target(const fs::path& file) {
  const FloatEnvironment
      environment;               // std::filesystem::path computes capacities in floating point
  constexpr int kMaxLinks = 40;  // Linux's limit
  if (file.empty()) throw InputError("the path of the file to write is empty");
  std::error_code error;
  fs::path path = fs::absolute(file, error);
  if (error) {
    throw InputError(unwritable(file, "the working directory cannot be found: " + error.message()));
  }
  // Resolves `..` and links, so that one file has one path.
  fs::path existing = fs::canonical(path, error);
  if (!error) return existing;
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, error)); ++links) {
    const fs::path next = links < kMaxLinks ? fs::read_symlink(path, error) : fs::path();
    if (next.empty()) throw InputError(unwritable(file, std::strerror(ELOOP)));
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  const fs::path folder = fs::canonical(path.parent_path(), error);
  return error ? path : folder / path.filename();
}

ProtectedFile::ProtectedFile(const fs::path& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  protected_files.emplace(device_, inode_);
}

ProtectedFile::ProtectedFile(ProtectedFile&& other) noexcept
    : device_(other.device_), inode_(std::exchange(other.inode_, 0)) {}

ProtectedFile::~ProtectedFile() {
  const auto found = protected_files.find({device_, inode_});
  if (inode_ != 0) protected_files.erase(found);
}

void require_space(const fs::path& file, std::int64_t bytes) {
  if (bytes <= 0) return;
  const auto needed = static_cast<std::uint64_t>(bytes);
  const auto refuse = [&](const char* what, std::uint64_t available) {
    throw InputError(fmt::format("{}: the file needs at least {}, but {} {}", file.string(),
                                 bytes_text(needed), what, bytes_text(available)));
  };
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < needed) {
    refuse("the limit for a file's size (ulimit -f) is", limit.rlim_cur);
  }
  struct statvfs space = {};
  const fs::path folder = output_target(file).parent_path();
  if (::statvfs(folder.c_str(), &space) != 0 || space.f_blocks == 0) return;
  const std::uint64_t blocks = ::geteuid() == 0 ? space.f_bfree : space.f_bavail;
  std::uint64_t available = 0;
  if (__builtin_mul_overflow(blocks, std::uint64_t{space.f_frsize}, &available)) return;
  if (available < needed) refuse("its file system has", available);
}

void remove_temporary_files() noexcept {
  const pid_t self = ::getpid();
  for (const Slot& slot : slots) {
    if (slot.state == Slot::filled && slot.owner == self) ::unlink(slot.path);
  }
}

NewFile::NewFile(const fs::path& file, std::int64_t bytes)
    : name_(file), target_(output_target(file)), owner_(::getpid()) {
  std::error_code error;
  // The target of a link such as /dev/stdout may be the name of a pipe, which is no path.
  if (fs::is_other(fs::status(file, error))) {
    throw InputError(unwritable(file, "it exists and is not a regular file"));
  }
  const auto status = fs::status(target_, error);
  // The target's name may be too long although that of the temporary file is not.
  if (status.type() == fs::file_type::none) throw InputError(unwritable(file, error.message()));
  replaces_ = fs::is_regular_file(status);
  if (fs::exists(status) && !replaces_) {
    throw InputError(unwritable(file, "it exists and is not a regular file"));
  }
  // For root, the mode is the only protection.
  const auto writable = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  const bool write_protected = (status.permissions() & writable) == fs::perms::none;
  if (replaces_ && (write_protected || ::access(target_.c_str(), W_OK) != 0)) {
    throw InputError(unwritable(file, "it exists and is write-protected"));
  }
  require_space(file, bytes);
  create_temporary();
}

NewFile::~NewFile() {
  if (stream_ != nullptr) discard();
}

void NewFile::create_temporary() {
  const FloatEnvironment environment;
  clean_once(target_.parent_path());
  // The name does not contain the target's, which may already have the maximum length. It is
  // remembered before the file exists, so that a signal never leaves one; the random number keeps a
  // signal handler from removing a file of another process.
  int descriptor = -1;
  do {
    temporary_ = target_.parent_path() / temporary_name();
    slot_ = remember(temporary_.string());
    // A file that replaces one that others must not read is never readable to them.
    descriptor =
        ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, replaces_ ? 0600 : 0666);
    if (descriptor < 0) {
      const int error = errno;
      forget(slot_);
      errno = error;
    }
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0) {
    const int error = errno;
    const std::string text = unwritable(name_, creation_error(name_, target_, error));
    if (is_shortage(error)) throw Error(text);
    throw InputError(text);
  }
  stream_ = ::fdopen(descriptor, "wb");
  if (stream_ == nullptr) {
    const int error = errno;
    ::close(descriptor);
    forget(slot_);
    ::unlink(temporary_.c_str());
    errno = error;
    fail();
  }
  if (replaces_) copy_ownership();
}

void NewFile::copy_ownership() {
  struct stat status = {};
  if (::stat(target_.c_str(), &status) != 0) return;
  const int descriptor = ::fileno(stream_);
  // Only root may set another owner, and only its members another group.
  if (::fchown(descriptor, status.st_uid, status.st_gid) != 0) {
    [[maybe_unused]] const int group = ::fchown(descriptor, -1, status.st_gid);
  }
  [[maybe_unused]] const int mode = ::fchmod(descriptor, status.st_mode & 0777);
}

// In a forked child, the file and the unwritten contents of the stream belong to the parent.
void NewFile::discard() {
  if (owner_ != ::getpid()) return;
  std::fclose(stream_);
  ::unlink(temporary_.c_str());
  forget(slot_);
}

void NewFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) fail();
}

void NewFile::write_at(std::int64_t offset, std::string_view bytes) {
  if (::fseeko(stream_, offset, SEEK_SET) != 0) fail();
  write(bytes);
  if (::fseeko(stream_, 0, SEEK_END) != 0) fail();
}

void NewFile::commit() {
  if (std::fflush(stream_) != 0) fail();
  if (is_protected(target_)) {
    throw Error(unwritable(name_, "it now names a file that is in use"));
  }
  // Without this, a power failure could leave neither the former contents nor the new ones.
  if (replaces_ && ::fsync(::fileno(stream_)) != 0 && errno != EINVAL) fail();
  std::FILE* stream = stream_;
  stream_ = nullptr;  // fclose() closes it even if it fails
  const bool placed =
      std::fclose(stream) == 0 && std::rename(temporary_.c_str(), target_.c_str()) == 0;
  if (!placed) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    errno = error;
  }
  forget(slot_);
  if (!placed) fail();
}

void NewFile::fail() const {
  throw Error(unwritable(name_, descriptor_error(errno)));
}

}  // namespace lloyd
