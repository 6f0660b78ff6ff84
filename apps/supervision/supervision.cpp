#include "supervision/supervision.hpp"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

#include "ipc/descriptor.hpp"
#include "output/foreign_output.hpp"
#include "output/messages.hpp"
#include "output/output.hpp"
#include "output/result_stream.hpp"
#include "process/end_by_signal.hpp"
#include "process/exit_status.hpp"
#include "process/fork_barrier.hpp"
#include "process/process_tree.hpp"
#include "process/sanitizer.hpp"
#include "process/scratch_folder.hpp"
#include "process/spawned_process.hpp"
#include "process/supervisor.hpp"
#include "process/termination.hpp"
#include "supervision/guest_scope.hpp"
#include "supervision/supervised_backend.hpp"
#include "supervision/supervision_board.hpp"

namespace lloyd::apps {
namespace {

using Clock = SupervisionBoard::Clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Signals within this time count as one request, as in the handlers of interrupt.cpp.
constexpr seconds kOneRequest{1};
// Time from the second request until the child is killed.
constexpr seconds kSecondRequestGrace{1};

// Set in the supervised child; null elsewhere.
SupervisionBoard* child_board = nullptr;

// The signals that request the end of a command, without those that are ignored.
sigset_t requests() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&signals, signal);
  }
  return signals;
}

// True if the duration of the call does not depend on the problem size.
bool is_short(PluginCall call) {
  switch (call) {
    case PluginCall::load:
    case PluginCall::probe:
    case PluginCall::create:
    case PluginCall::info:
    case PluginCall::supports:
    case PluginCall::estimate:
    case PluginCall::evict:
    case PluginCall::query:
    case PluginCall::notes:
    case PluginCall::release_session:
    case PluginCall::release_backend:
      return true;
    default:
      return false;
  }
}

// True for the calls that load a plugin, before the name of its backend is known.
bool is_loading(PluginCall call) {
  return call >= PluginCall::load && call <= PluginCall::info;
}

std::string signal_text(int signal) {
  return fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

[[noreturn]] void die_of(int signal) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);  // only the child's core dump is useful
  end_by_signal(signal);
}

class Supervisor {
 public:
  /// `adopts`: true if all children of this process were started by it or adopted from a
  /// supervisor.
  Supervisor(pid_t child, const SupervisionBoard& board, Descriptor output, Descriptor signals,
             seconds limit, bool adopts)
      : board_(board),
        output_(std::move(output)),
        signals_(std::move(signals)),
        limit_(limit),
        adopts_(adopts) {
    process_.adopt(child);
  }

  // End of this process.
  struct End {
    int status;
    int signal;  ///< ends the process instead of the status; 0: none
  };

  End wait() {
    constexpr milliseconds kApart{100};  // polling interval of the board
    while (!process_.has_ended()) {
      std::array<pollfd, 2> waited = {output_.waited(), {signals_.get(), POLLIN, 0}};
      ::poll(waited.data(), waited.size(), kApart.count());
      output_.pass_on();
      read_signals();
      wake_supervisor();
      if (killed_.empty()) end_what_takes_too_long();
    }
    // Spares the remover of the scratch folder, in case this process is killed from now on.
    if (adopts_) kill_descendants(::getpid(), SpawnedProcess::all());
    read_signals();  // a signal of the terminal may have ended the child since they were read
    const Conclusion conclusion = conclude();
    const Clock::time_point ended_at = Clock::now();
    bool interrupted = false;
    // After a stop request, do not wait for a reader of the messages beyond the grace time.
    output_.finish(conclusion.text, [&] {
      interrupted = interrupted || read_signals();
      return interrupted || (first_request_ && Clock::now() - ended_at > kMessageGrace);
    });
    return {conclusion.status, interrupted ? request_ : conclusion.signal};
  }

 private:
  // Forwards pending signals to the child. Returns true if there were any.
  bool read_signals() {
    bool any = false;
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;
      any = true;
      process_.signal(signal);
      if (!first_request_) {
        first_request_ = Clock::now();
        request_ = signal;
      } else if (Clock::now() - *first_request_ > kOneRequest) {
        request_ = signal;
        if (!second_request_) second_request_ = Clock::now();
      }
    }
    return any;
  }

  // Only a plugin would stop (SIGSTOP) the intermediate supervisor; continue it.
  void wake_supervisor() {
    siginfo_t info{};
    const int options = WSTOPPED | WNOHANG;
    const auto pid = static_cast<id_t>(process_.pid());
    if (::waitid(P_PID, pid, &info, options) == 0 && info.si_pid != 0) process_.signal(SIGCONT);
  }

  void end_what_takes_too_long() {
    // Read before changed_at(): mark() stores in the opposite order.
    const PluginCall call = board_.call();
    const Clock::time_point since = board_.changed_at();
    const Clock::time_point now = Clock::now();
    const bool ending = call == PluginCall::none && has_status();
    const bool of_plugin = call != PluginCall::none || ending;
    if (!first_request_ || of_plugin || has_worked()) rests_since_ = now;
    const seconds grace = std::min(limit_, kMaxRequestGrace);
    if (second_request_ && now - *second_request_ >= kSecondRequestGrace) {
      by_request_ = true;
      kill(fmt::format("{} did not end within {} s of a second {}", subject(),
                       kSecondRequestGrace.count(), signal_text(request_)));
    } else if (first_request_ && of_plugin && now - std::max(*first_request_, since) >= grace) {
      by_request_ = true;
      kill(fmt::format("{} did not {} within {} s of {}", subject(),
                       ending ? "end" : returning(call), grace.count(), signal_text(request_)));
    } else if (now - rests_since_ >= 2 * grace) {
      by_request_ = true;
      kill(fmt::format("the process of this command did nothing for {} s after {}",
                       2 * grace.count(), signal_text(request_)));
    } else if ((is_short(call) || ending) && now - since >= limit_) {
      kill(fmt::format("{} did not {} within {} s; --plugin-timeout gives it longer", subject(),
                       ending ? "let the process end" : returning(call), limit_.count()));
    }
  }

  // True if the child has used processor time since the last call or waits for a device, or if that
  // is unknown.
  bool has_worked() {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(board_.process(), &clock) != 0 ||
        ::clock_gettime(clock, &time) != 0) {
      return true;
    }
    const seconds whole(time.tv_sec);
    const nanoseconds used = whole + nanoseconds(time.tv_nsec);
    return std::exchange(used_, used) != used || sleeps_uninterruptibly(board_.process());
  }

  static std::string returning(PluginCall call) {
    if (call == PluginCall::load) return "load";
    return fmt::format("return from {}", to_string(call));
  }

  void kill(std::string why) {
    killed_ = std::move(why);
    // Before the process itself, while its descendants can still be found.
    kill_descendants(process_.pid());
    process_.signal(SIGKILL);
  }

  bool has_status() const { return board_.status() != SupervisionBoard::kNoStatus; }

  // End of this process and its last message.
  struct Conclusion {
    int status = kFailed;
    int signal = 0;  ///< ends the process instead of the status; 0: none
    std::string text;
  };

  Conclusion conclude() const {
    const ProcessEnd& end = process_.end();
    const std::string failure = board_.failure.get();
    Conclusion result;
    if (!failure.empty()) result.text = failure_message(printable(failure));
    if (!killed_.empty()) {
      result.text += fmt::format("lloyd: {}{}{}\n", place(), printable(killed_),
                                 has_status() ? "; the work was done" : "");
      if (by_request_) result.signal = request_;
    } else if (end.signalled && (end.code == request_ || lost_reader(end))) {
      result.signal = end.code;
    } else if (has_status() && !end.signalled && end.code == board_.status() &&
               board_.call() == PluginCall::none) {
      result.status = end.code;
    } else {
      result.text += fmt::format("lloyd: {}{}\n", place(), printable(describe_end()));
    }
    return result;
  }

  // Lloyd prints outside of plugin calls only; SIGPIPE inside one is the plugin's.
  bool lost_reader(const ProcessEnd& end) const {
    return end.code == SIGPIPE && board_.call() == PluginCall::none;
  }

  // The beginning of a sentence; empty if the place is unknown.
  std::string place() const {
    const std::string text = board_.place.get();
    return text.empty() ? text : printable(text) + ": ";
  }

  std::string subject() const {
    if (is_loading(board_.call())) return board_.file.get();
    const std::string backends = board_.backends.get();
    return backends.empty() ? "the process of this command" : "the backend " + backends;
  }

  // Sentence for a child that ended unexpectedly.
  std::string describe_end() const {
    const PluginCall call = board_.call();
    std::string how = process_.end().text();
    const std::string termination = board_.termination.get();
    if (!termination.empty()) how += ", since " + termination;
    if (!is_loading(call) && board_.backends.get().empty()) {
      return fmt::format("{} ended unexpectedly: {}", subject(), how);
    }
    return fmt::format("{} ended the process{}{}: {}", subject(), place_of(call),
                       has_status() ? ", whose work was done" : "", how);
  }

  const SupervisionBoard& board_;
  ForeignOutput output_;
  Descriptor signals_;
  seconds limit_;
  bool adopts_;
  SpawnedProcess process_{SpawnedProcess::Reach::process};
  std::optional<Clock::time_point> first_request_;
  std::optional<Clock::time_point> second_request_;
  int request_ = 0;                ///< last signal that counted as a request; 0: none
  Clock::time_point rests_since_;  ///< since when the child has been idle outside of plugin calls,
                                   ///< after a request
  nanoseconds used_{};             ///< processor time of the child at the last poll
  std::string killed_;             ///< why the child was killed; empty: not killed
  bool by_request_ = false;        ///< killed after a stop request
};

// Called in the child of the supervising process; returns in the process that continues the
// command.
void become_supervised(pid_t parent, SupervisionBoard& board, int output, const sigset_t& signals) {
  try {
    run_supervised(parent, ChildGroup::parents);
    divert_standard_error(output);
    keep_results_apart();
  } catch (const Error& error) {
    board.failure.set(error.what());
    board.set_status(kFailed);
    ::_exit(kFailed);
  }
  child_board = &board;
  board.set_process(::getpid());
  describe_termination([](const char* sentence) { child_board->termination.set(sentence); });
  abort_after_sanitizer_report();
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
}

}  // namespace

void supervise(seconds limit, Scratch scratch) {
  flush_results();  // otherwise the child would print the buffer too
  sigset_t watched = requests();
  ::sigaddset(&watched, SIGCHLD);
  Descriptor signals(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) throw Error(fmt::format("cannot watch signals: {}", descriptor_error(errno)));
  auto [output, its_output] = make_pipe();
  SupervisionBoard& board = SupervisionBoard::make();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &watched, &before);
  // If a plugin kills the intermediate supervisor, this process adopts its descendants.
  const bool adopts = can_adopt_orphans();
  if (adopts) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // The folder's remover must be a child of this process: all descendants of the supervised child
  // are killed, so a remover among them would be killed too.
  std::unique_ptr<ScratchFolder> folder;
  if (scratch == Scratch::own) folder = std::make_unique<ScratchFolder>();
  std::fflush(nullptr);  // for the same reason as flush_results() above
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    if (folder != nullptr) ::setenv("TMPDIR", folder->path().c_str(), 1);
    // The parent removes the folder. The static pointer keeps leak checkers quiet.
    [[maybe_unused]] static const ScratchFolder* of_parent = nullptr;
    of_parent = folder.release();
    become_supervised(parent, board, its_output.get(), before);
    return;
  }
  if (child < 0) {
    const int error = errno;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    throw Error(fmt::format("cannot start a process: {}", ::strerror(error)));
  }
  its_output.close();
  const Supervisor::End end =
      Supervisor(child, board, std::move(output), std::move(signals), limit, adopts).wait();
  folder.reset();  // die_of() runs no destructors
  if (end.signal != 0) die_of(end.signal);
  throw SupervisedEnd{end.status};
}

std::shared_ptr<const LoadedBackend> load_supervised(const std::filesystem::path& file) {
  child_board->file.set(file.string());
  const MarkedCall call(*child_board, PluginCall::load);
  GuestScope loading;
  std::unique_ptr<LoadedBackend> backend = [&] {
    const ForkBarrier barrier;
    return load_marked(file, *child_board);
  }();
  loading.end();
  const std::string known = child_board->backends.get();
  child_board->backends.set(
      fmt::format("{}'{}'", known.empty() ? known : known + " or ", backend->name()));
  return backend;
}

std::shared_ptr<Communicator> join_supervised(const LaunchedJob& job) {
  child_board->file.set(job.plugin.string());
  const MarkedCall call(*child_board, PluginCall::load);
  GuestScope loading;
  std::shared_ptr<Communicator> communicator = join_ranks(job);
  loading.end();
  return communicator;
}

void set_place(std::string_view place) noexcept {
  if (child_board != nullptr) child_board->place.set(place);
}

void report_failure(std::string_view sentence) {
  if (is_silent()) return;
  if (child_board == nullptr) {
    write_message(failure_message(printable_lines(sentence)));
  } else {
    child_board->failure.set(with_names(sentence));  // the supervisor prints it as it is
  }
}

void report_reason(const char* reason) noexcept {
  if (child_board != nullptr) {
    child_board->termination.set(reason);
    return;
  }
  for (const char* const text : {reason, "\n"}) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
  }
}

void report_end(int status) noexcept {
  if (child_board != nullptr) child_board->set_status(status);
}

void report_own_end(int status) noexcept {
  if (child_board != nullptr) child_board->clear_calls();
  report_end(status);
}

}  // namespace lloyd::apps
