#include "supervision.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/registry.hpp>
#include <lloyd/status_text.hpp>

#include "context.hpp"
#include "descriptor.hpp"
#include "guest_scope.hpp"
#include "output.hpp"
#include "packet_socket.hpp"
#include "sanitizer.hpp"
#include "spawned_process.hpp"

namespace lloyd::apps {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A request that comes twice within this time is one, as for the handlers of interrupt.hpp.
constexpr seconds kOneRequest{1};
// From the second request until the child is killed.
constexpr seconds kRequestGrace{1};
// For the functions that a plugin has the end of the process call.
constexpr seconds kEndLimit{10};

// First bytes of the child's packets.
constexpr char kLoading = 'b';  // followed by the plugin's file
constexpr char kLoaded = 'l';   // followed by the backend's name
constexpr char kEnd = 'e';      // followed by an int

// The child's end of the socket; negative elsewhere.
int report_socket = -1;

// Under a number that no plugin finds by accident, where the limit of open files allows it.
int out_of_the_way(Descriptor socket) {
  constexpr int kFirst = 200;
  const int moved = ::fcntl(socket.get(), F_DUPFD_CLOEXEC, kFirst);
  return moved >= 0 ? moved : socket.release();
}

sigset_t requests() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  return signals;
}

class Supervisor {
 public:
  Supervisor(pid_t child, Descriptor socket, Descriptor signals, seconds limit)
      : socket_(std::move(socket)), signals_(std::move(signals)), limit_(limit) {
    process_.adopt(child);
  }

  int wait() {
    while (!process_.has_ended()) {
      std::array<pollfd, 2> waited = {{{socket_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
      ::poll(waited.data(), waited.size(), static_cast<int>(time_left().count()));
      read_reports();
      read_signals();
      if (deadline_ && Clock::now() >= *deadline_) {
        overdue_ = true;
        process_.signal(SIGKILL);
        deadline_.reset();
      }
    }
    read_reports();  // what came before the end
    return conclude();
  }

 private:
  // The end of the child is a signal too. Where its handling was inherited as ignored, it is looked
  // for.
  milliseconds time_left() const {
    constexpr milliseconds kApart{500};
    if (!deadline_) return kApart;
    const auto left = std::chrono::ceil<milliseconds>(*deadline_ - Clock::now());
    return std::clamp(left, milliseconds(0), kApart);
  }

  void read_reports() {
    Packet packet;
    while (socket_) {
      const Received received = receive_packet(socket_.get(), false, packet);
      if (received == Received::nothing) return;
      if (received == Received::end) {
        socket_.close();
        return;
      }
      if (packet.text.starts_with(kLoading)) {
        file_ = packet.text.substr(1);
        deadline_ = Clock::now() + limit_;
      } else if (packet.text.starts_with(kLoaded)) {
        file_.clear();
        backends_ += (backends_.empty() ? "'" : " or '") + packet.text.substr(1) + "'";
        deadline_.reset();
      } else if (packet.text.starts_with(kEnd) && packet.text.size() == 1 + sizeof(int)) {
        status_.emplace();
        ::memcpy(&*status_, packet.text.data() + 1, sizeof(int));
        deadline_ = Clock::now() + kEndLimit;
      }
    }
  }

  void read_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;
      process_.signal(signal);
      if (!first_request_) {
        first_request_ = Clock::now();
        request_ = signal;
      } else if (Clock::now() - *first_request_ > kOneRequest) {
        request_ = signal;
        if (!deadline_ || !insisted_) deadline_ = Clock::now() + kRequestGrace;
        insisted_ = true;
      }
    }
  }

  int conclude() const {
    const ProcessEnd& end = process_.end();
    const bool requested = request_ != 0 && end.signalled && (end.code == request_ || insisted_);
    if (requested) die_of(request_);
    if (end.signalled && end.code == SIGPIPE) die_of(SIGPIPE);
    if (status_ && !end.signalled && end.code == *status_) return *status_;
    note("lloyd: {}\n", printable(describe_end()));
    return kFailed;
  }

  // Of a child that has not ended as it should.
  std::string describe_end() const {
    const std::string how = process_.end().text();
    const std::string who = backends_.empty() ? "" : "the backend " + backends_;
    if (!file_.empty() && overdue_) {
      return fmt::format("{} did not load within {} s; --plugin-timeout gives it longer", file_,
                         limit_.count());
    }
    if (!file_.empty())
      return fmt::format("{} ended the process while it was loaded: {}", file_, how);
    if (who.empty()) return "the process of this command ended unexpectedly: " + how;
    if (overdue_) {
      return fmt::format("{} did not let the process end within {} s; its work was done", who,
                         kEndLimit.count());
    }
    return fmt::format("{} ended the process{}: {}", who, status_ ? ", whose work was done" : "",
                       how);
  }

  // As the child did.
  static void die_of(int signal) {
    ::signal(signal, SIG_DFL);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::raise(signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  }

  Descriptor socket_;
  Descriptor signals_;
  seconds limit_;
  SpawnedProcess process_{SpawnedProcess::Reach::process};
  std::string file_;           ///< of the plugin that is loaded just now
  std::string backends_;       ///< that are loaded, quoted
  std::optional<int> status_;  ///< that the child has reported
  std::optional<Clock::time_point> deadline_;
  bool overdue_ = false;
  std::optional<Clock::time_point> first_request_;
  int request_ = 0;  ///< the signal
  bool insisted_ = false;
};

void report(std::string_view text) {
  if (report_socket >= 0) send_packet(report_socket, text);
}

}  // namespace

void supervise(seconds limit) {
  sigset_t watched = requests();
  ::sigaddset(&watched, SIGCHLD);
  Descriptor signals(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) throw Error(fmt::format("cannot watch signals: {}", ::strerror(errno)));
  auto [mine, its] = make_packet_sockets();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &watched, &before);
  std::fflush(nullptr);  // or the child would print it too
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kFailed);  // it ended before the line above
    report_socket = out_of_the_way(std::move(its));
    abort_after_sanitizer_report();
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  if (child < 0) {
    const int error = errno;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    throw Error(fmt::format("cannot start a process: {}", ::strerror(error)));
  }
  its.close();
  throw SupervisedEnd{Supervisor(child, std::move(mine), std::move(signals), limit).wait()};
}

std::shared_ptr<const LoadedBackend> load_supervised(const std::filesystem::path& file) {
  report(kLoading + file.string());
  GuestScope loading;
  std::shared_ptr<const LoadedBackend> backend = load_plugin(file);
  loading.end();
  report(kLoaded + backend->name());
  return backend;
}

void report_end(int status) noexcept {
  if (report_socket < 0) return;
  char packet[1 + sizeof(int)] = {kEnd};
  ::memcpy(packet + 1, &status, sizeof(int));
  [[maybe_unused]] const auto sent = ::send(report_socket, packet, sizeof(packet), MSG_NOSIGNAL);
}

}  // namespace lloyd::apps
