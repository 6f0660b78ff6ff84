#include "workers/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "ipc/packet_socket.hpp"
#include "output/messages.hpp"
#include "output/reader.hpp"
#include "process/sanitizer.hpp"
#include "process/supervisor.hpp"
#include "process/termination.hpp"
#include "supervision/interrupt.hpp"

namespace lloyd::apps {
namespace {

// Exit status of a child that cannot report.
constexpr int kPipeLost = 113;

// Bytes; longer input is not a line of ours.
constexpr std::size_t kMaxLine = std::size_t{1} << 24;

void write_line(int pipe, std::string_view text) {
  const std::string line = fmt::format("{}\n", text);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(pipe, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ::_exit(kPipeLost);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void redirect_standard_streams(int output) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(output, stream);
  ::close(output);
}

// The child gets its own process group, so a terminal interrupt reaches the parent alone.
[[noreturn]] void run_child(pid_t parent, const ChildProcess::Reporter& report, int output,
                            const ChildProcess::Work& work) noexcept {
  redirect_standard_streams(output);
  forget_readers();
  try {
    run_supervised(parent);
  } catch (const Error& error) {
    say_to_standard_error(error.what());
    ::_exit(EXIT_FAILURE);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
  abort_after_sanitizer_report();
  describe_termination(say_to_standard_error);
  std::exit(work(report));
}

}  // namespace

void ChildProcess::Reporter::operator()(std::string_view line) const {
  write_line(lines_, line);
}

void ChildProcess::Reporter::await_turn() const {
  try {
    Packet packet;
    if (receive_packet(turns_, true, packet) == Received::packet) return;
  } catch (const Error&) {  // the descriptor is closed or another one
  }
  ::_exit(kPipeLost);
}

ChildProcess::ChildProcess(const Work& work) {
  auto [lines, its_lines] = make_pipe();
  auto [output, its_output] = make_pipe();
  auto [turns, its_turns] = make_packet_sockets();
  std::fflush(nullptr);  // otherwise the child would print the buffers too
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    lines.close();
    output.close();
    turns.close();
    run_child(parent, Reporter(its_lines.get(), its_turns.get()), its_output.release(), work);
  }
  if (child < 0) throw Error(fmt::format("cannot start a process: {}", ::strerror(errno)));
  process_.adopt(child);
  ::setpgid(child, child);  // also done by the child, but it may be killed before
  pipe_ = std::move(lines);
  turns_ = std::move(turns);
  ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  output_.emplace(std::move(output), &words_);
}

ChildProcess::~ChildProcess() {
  process_.kill();
  finish_output();
}

// Passes on the rest of the output of a child that has ended.
void ChildProcess::finish_output() {
  const Clock::time_point begun = Clock::now();
  output_->finish({}, [&] { return interrupted() && Clock::now() - begun > kMessageGrace; });
}

std::string ChildProcess::last_words() {
  constexpr std::size_t kMaxWords = 300;
  if (process_.ended()) {
    finish_output();
  } else {
    output_->pass_on_available();
  }
  // The end of a sanitizer's report is a legend.
  const std::string summary = words_.last_line("SUMMARY: ");
  return summary.empty() ? words_.text(kMaxWords) : summary;
}

void ChildProcess::forget_words() {
  output_->pass_on_available();
  words_.clear();
}

// If the child has ended, the next wait() returns Event::ended.
void ChildProcess::resume() {
  send_packet(turns_.get(), "turn");
}

ChildProcess::Event ChildProcess::wait(Clock::time_point deadline,
                                       const std::function<bool()>& stop) {
  using std::chrono::milliseconds;
  while (true) {
    if (take_line()) return Event::line;
    if (process_.ended()) return Event::ended;
    if (stop && stop()) return Event::stopped;
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return Event::timed_out;
    // Poll both the pipe and the process: a descendant may hold the pipe open after the child's
    // end, and the child may close it before its end.
    std::array<pollfd, 2> waited = {{{pipe_.get(), POLLIN, 0}, output_->waited()}};
    const auto slice = std::min(left, milliseconds(pipe_ ? 100 : 10));
    ::poll(waited.data(), waited.size(), static_cast<int>(slice.count()));
    output_->pass_on();
    if (waited[0].revents != 0 && read_pipe()) continue;
    // Read again: the child may have written between the read and its end.
    if (process_.has_ended()) read_pipe();
  }
}

bool ChildProcess::lost_pipe() const {
  return !end().signalled && end().code == kPipeLost;
}

bool ChildProcess::take_line() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos && buffer_.size() < kMaxLine) return false;
  if (end == std::string::npos) {  // not a line of the protocol
    line_ = std::exchange(buffer_, {});
    pipe_.close();
    return true;
  }
  line_ = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return true;
}

// Reads the available bytes; returns true if there were any.
bool ChildProcess::read_pipe() {
  const std::size_t before = buffer_.size();
  char bytes[4096];
  while (pipe_ && buffer_.size() < kMaxLine) {
    const ssize_t count = ::read(pipe_.get(), bytes, sizeof(bytes));
    if (count > 0) buffer_.append(bytes, static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
      pipe_.close();
    } else if (count < 0 && errno == EAGAIN) {
      break;
    }
  }
  return buffer_.size() > before;
}

}  // namespace lloyd::apps
