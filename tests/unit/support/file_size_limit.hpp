// FileSizeLimit: simulates a full disk.
#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace lloyd {

/// During its lifetime, no file of this process grows beyond the given size in bytes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &saved_);
    handler_ = ::signal(SIGXFSZ, SIG_IGN);  // so that the write fails instead of the process
    const rlimit limit{bytes, saved_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &saved_);
    ::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit saved_ = {};
  void (*handler_)(int) = SIG_DFL;
};

}  // namespace lloyd
