// ProcessState: what a process has only one of, and a plugin in it could change for all others.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cfenv>
#include <clocale>
#include <cstddef>
#include <exception>
#include <locale>
#include <map>
#include <new>
#include <string>

namespace lloyd {

/// The state of this process, and of the calling thread, when the object was made: working
/// directory, file mode mask, standard streams, signal mask and handlers, locale, environment,
/// limits, timers, floating-point modes, processors, and handlers of the C++ runtime. Its functions
/// are to be called on that thread. Descriptors beyond the standard streams, threads and memory are
/// a plugin's own affair.
class ProcessState {
 public:
  /// Throws Error where the state cannot be kept: no descriptor is left, or the working directory
  /// cannot be opened.
  ProcessState();
  ~ProcessState();
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  /// What is no longer as it was, e.g. "the working directory"; the first of several, empty where
  /// nothing has changed. Processors are left out where OpenMP was told to bind threads.
  std::string first_change() const;
  /// Puts everything back that first_change() looks at. Throws Error where a standard stream or the
  /// working directory cannot be.
  void restore() const;

 private:
  struct File {
    dev_t device = 0;
    ino_t number = 0;
    int flags = -1;  ///< -1: not open

    bool operator==(const File&) const = default;
  };
  static constexpr int kStreams = 3;
  static constexpr int kTimers = 3;

  static File file_of(int descriptor);

  int folder_ = -1;
  File folder_file_;
  mode_t mask_ = 0;
  std::array<int, kStreams> streams_{-1, -1, -1};  ///< copies
  std::array<File, kStreams> stream_files_;
  sigset_t blocked_{};
  std::array<struct sigaction, NSIG> actions_{};
  std::string locale_;
  locale_t thread_locale_ = nullptr;  ///< of uselocale(3)
  std::locale cpp_locale_;            ///< the global one of C++
  std::map<std::string, std::string> environment_;
  std::array<bool, kTimers> timers_{};  ///< which run
  std::array<rlimit, RLIM_NLIMITS> limits_{};
  std::fenv_t float_environment_{};
  unsigned float_modes_ = 0;
  cpu_set_t processors_{};
  int priority_ = 0;
  std::terminate_handler terminate_ = nullptr;
  std::new_handler new_handler_ = nullptr;
};

}  // namespace lloyd
