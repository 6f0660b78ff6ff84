#include <lloyd/process_state.hpp>

#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <string_view>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>

namespace lloyd {
namespace {

constexpr std::array<int, 3> kTimerNames = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

mode_t file_mode_mask() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

std::map<std::string, std::string> environment_variables() {
  std::map<std::string, std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t end = text.find('=');
    if (end == std::string_view::npos) continue;
    variables.emplace(text.substr(0, end), text.substr(end + 1));
  }
  return variables;
}

// Rounding mode and handling of subnormals; exception flags are not part of the modes.
unsigned float_modes() {
#if defined(__x86_64__)
  constexpr unsigned kRaised = 0x3f;
  return (_mm_getcsr() & ~kRaised) << 16 | static_cast<unsigned>(std::fegetround());
#else
  return static_cast<unsigned>(std::fegetround());
#endif
}

bool timer_runs(int timer) {
  itimerval value{};
  return ::getitimer(static_cast<__itimer_which_t>(timer), &value) == 0 &&
         (value.it_value.tv_sec != 0 || value.it_value.tv_usec != 0);
}

sigset_t blocked_signals() {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return blocked;
}

bool same_signals(const sigset_t& a, const sigset_t& b) {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (::sigismember(&a, signal) != ::sigismember(&b, signal)) return false;
  }
  return true;
}

bool same_action(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_handler == b.sa_handler && a.sa_flags == b.sa_flags &&
         same_signals(a.sa_mask, b.sa_mask);
}

// True if the user told OpenMP to bind threads: then its runtimes change the affinity of the thread
// that first enters a parallel region.
bool openmp_binds_threads() {
  static constexpr std::array<const char*, 4> kVariables = {"OMP_PROC_BIND", "OMP_PLACES",
                                                            "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
  return std::any_of(kVariables.begin(), kVariables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

// Duplicates a descriptor to a high number, so that it neither takes the place of a closed standard
// stream nor is met by programs that iterate over low descriptors.
int copy_descriptor(int descriptor) {
  constexpr int kHighNumber = 100;
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kHighNumber);
  if (copy >= 0 || errno == EBADF) return copy;
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

int open_folder() {
  const int folder = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int copy = folder < 0 ? -1 : copy_descriptor(folder);
  const int error = errno;
  if (folder >= 0) ::close(folder);
  errno = error;
  return copy;
}

std::array<bool, kTimerNames.size()> running_timers() {
  std::array<bool, kTimerNames.size()> running{};
  std::transform(kTimerNames.begin(), kTimerNames.end(), running.begin(), timer_runs);
  return running;
}

}  // namespace

ProcessState::File ProcessState::file_of(int descriptor) {
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) return {};
  return {status.st_dev, status.st_ino, ::fcntl(descriptor, F_GETFL)};
}

ProcessState::ProcessState()
    : folder_(open_folder()),
      folder_file_(file_of(folder_)),
      mask_(file_mode_mask()),
      blocked_(blocked_signals()),
      environment_(environment_variables()),
      timers_(running_timers()),
      float_modes_(float_modes()),
      terminate_(std::get_terminate()),
      new_handler_(std::get_new_handler()) {
  // A working directory without search permission cannot be opened, nor returned to.
  if (folder_ < 0 && errno != EACCES) {
    throw Error(fmt::format("the working directory cannot be opened: {}", descriptor_error(errno)));
  }
  for (int stream = 0; stream < kStreams; ++stream) {
    const auto at = static_cast<std::size_t>(stream);
    stream_files_[at] = file_of(stream);
    streams_[at] = copy_descriptor(stream);
    if (streams_[at] < 0 && errno != EBADF) {
      const int error = errno;
      for (const int copy : streams_) ::close(copy);
      ::close(folder_);
      throw Error(fmt::format("cannot duplicate a standard stream: {}", descriptor_error(error)));
    }
  }
  for (int signal = 1; signal < NSIG; ++signal) {
    ::sigaction(signal, nullptr, &actions_[static_cast<std::size_t>(signal)]);
  }
  const char* const locale = std::setlocale(LC_ALL, nullptr);
  locale_ = locale == nullptr ? "C" : locale;
  thread_locale_ = ::uselocale(nullptr);
  for (std::size_t limit = 0; limit < limits_.size(); ++limit) {
    ::getrlimit(static_cast<__rlimit_resource_t>(limit), &limits_[limit]);
  }
  std::fegetenv(&float_environment_);
  ::sched_getaffinity(0, sizeof(processors_), &processors_);
  priority_ = ::getpriority(PRIO_PROCESS, 0);
}

ProcessState::~ProcessState() {
  for (const int copy : streams_) {
    if (copy >= 0) ::close(copy);
  }
  ::close(folder_);
}

std::string ProcessState::first_change() const {
  static constexpr std::array<const char*, kStreams> kStreamNames = {
      "standard input", "standard output", "standard error"};
  const int folder = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const bool same_folder = file_of(folder) == folder_file_;
  if (folder >= 0) ::close(folder);
  if (!same_folder) return "the working directory";
  if (file_mode_mask() != mask_) return "the file mode mask (umask)";
  for (int stream = 0; stream < kStreams; ++stream) {
    const auto at = static_cast<std::size_t>(stream);
    if (!(file_of(stream) == stream_files_[at])) return kStreamNames[at];
  }
  if (!same_signals(blocked_signals(), blocked_)) return "the signals that are blocked";
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0) continue;
    if (same_action(action, actions_[static_cast<std::size_t>(signal)])) continue;
    return fmt::format("what signal {} ({}) does", signal, ::strsignal(signal));
  }
  const char* const locale = std::setlocale(LC_ALL, nullptr);
  if (locale == nullptr || locale != locale_) return "the locale";
  if (::uselocale(nullptr) != thread_locale_) return "the locale of the calling thread (uselocale)";
  if (std::locale() != cpp_locale_) return "the global locale of C++";
  const auto variables = environment_variables();
  for (const auto* const one : {&environment_, &variables}) {
    const auto& other = one == &variables ? environment_ : variables;
    for (const auto& [name, value] : *one) {
      const auto found = other.find(name);
      if (found == other.end() || found->second != value) {
        return fmt::format("the environment variable {}", name);
      }
    }
  }
  for (std::size_t limit = 0; limit < limits_.size(); ++limit) {
    rlimit now{};
    ::getrlimit(static_cast<__rlimit_resource_t>(limit), &now);
    if (now.rlim_cur != limits_[limit].rlim_cur || now.rlim_max != limits_[limit].rlim_max) {
      return fmt::format("resource limit {} of setrlimit(2)", limit);
    }
  }
  if (running_timers() != timers_) return "the timers of setitimer(2) or alarm(2)";
  if (float_modes() != float_modes_) return "the floating-point modes";
  cpu_set_t processors{};
  ::sched_getaffinity(0, sizeof(processors), &processors);
  if (CPU_EQUAL(&processors, &processors_) == 0 && !openmp_binds_threads()) {
    return "the processors that the calling thread may run on";
  }
  if (::getpriority(PRIO_PROCESS, 0) != priority_) return "the scheduling priority (nice)";
  if (std::get_terminate() != terminate_) return "the handler of std::terminate";
  if (std::get_new_handler() != new_handler_) return "the handler of failed allocations";
  return {};
}

void ProcessState::restore() const {
  std::set_terminate(terminate_);
  std::set_new_handler(new_handler_);
  for (std::size_t timer = 0; timer < timers_.size(); ++timer) {
    const itimerval never{};
    if (timers_[timer] || !timer_runs(kTimerNames[timer])) continue;
    ::setitimer(static_cast<__itimer_which_t>(kTimerNames[timer]), &never, nullptr);
  }
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    const struct sigaction& former = actions_[static_cast<std::size_t>(signal)];
    if (::sigaction(signal, nullptr, &action) != 0 || same_action(action, former)) continue;
    ::sigaction(signal, &former, nullptr);
  }
  ::pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
  std::fesetenv(&float_environment_);
  ::uselocale(thread_locale_);
  std::locale::global(cpp_locale_);  // before, since one with a name sets that of C too
  std::setlocale(LC_ALL, locale_.c_str());
  for (std::size_t limit = 0; limit < limits_.size(); ++limit) {
    ::setrlimit(static_cast<__rlimit_resource_t>(limit), &limits_[limit]);
  }
  const auto variables = environment_variables();
  for (const auto& [name, value] : variables) {
    if (!environment_.contains(name)) ::unsetenv(name.c_str());
  }
  for (const auto& [name, value] : environment_) {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second != value) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  if (!openmp_binds_threads()) ::sched_setaffinity(0, sizeof(processors_), &processors_);
  ::setpriority(PRIO_PROCESS, 0, priority_);
  ::umask(mask_);
  const char* lost = folder_ < 0 || ::fchdir(folder_) == 0 ? nullptr : "working directory";
  for (int stream = 0; stream < kStreams; ++stream) {
    const auto at = static_cast<std::size_t>(stream);
    if (stream_files_[at].flags < 0) {
      ::close(stream);
    } else {
      const bool restored = file_of(streams_[at]) == stream_files_[at] ||
                            (::fcntl(streams_[at], F_SETFL, stream_files_[at].flags) == 0 &&
                             file_of(streams_[at]) == stream_files_[at]);
      if (!restored || ::dup2(streams_[at], stream) < 0) lost = "standard streams";
    }
  }
  if (lost == nullptr) return;
  throw Error(
      fmt::format("a plugin has closed descriptors that it did not open, and with them the "
                  "program's {}",
                  lost));
}

}  // namespace lloyd
