// ProcessState: process-wide state that a plugin could change for everything else in the process.
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

/// A snapshot of process-wide state and of the calling thread's state: working directory, file mode
/// mask, standard streams, signal mask and handlers, locale, environment, limits, timers,
/// floating-point modes, processor affinity, priority, and handlers of the C++ runtime. All
/// functions must be called on the thread that created the object. File descriptors other than the
/// standard streams, threads and memory are not covered.
class ProcessState {
 public:
  /// Takes the snapshot. Throws Error if file descriptors are exhausted or the working directory
  /// cannot be opened.
  ProcessState();
  ~ProcessState();
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  /// Names the first difference to the snapshot, for example "the working directory"; empty if
  /// there is none. The processor affinity is not compared if OpenMP binds threads.
  std::string first_change() const;
  /// Restores everything that first_change() compares. Throws Error if a standard stream or the
  /// working directory cannot be restored.
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
  std::array<int, kStreams> streams_{-1, -1, -1};  ///< duplicated descriptors
  std::array<File, kStreams> stream_files_;
  sigset_t blocked_{};
  std::array<struct sigaction, NSIG> actions_{};
  std::string locale_;
  locale_t thread_locale_ = nullptr;  ///< of uselocale(3)
  std::locale cpp_locale_;            ///< the global one of C++
  std::map<std::string, std::string> environment_;
  std::array<bool, kTimers> timers_{};  ///< true: the timer runs
  std::array<rlimit, RLIM_NLIMITS> limits_{};
  std::fenv_t float_environment_{};
  unsigned float_modes_ = 0;
  cpu_set_t processors_{};
  int priority_ = 0;
  std::terminate_handler terminate_ = nullptr;
  std::new_handler new_handler_ = nullptr;
};

}  // namespace lloyd
