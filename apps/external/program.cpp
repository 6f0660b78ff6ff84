#include "external/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

#include "ipc/packet_socket.hpp"
#include "process/spawn.hpp"
#include "process/supervisor.hpp"
#include "workers/worker_command.hpp"

namespace lloyd::external {
namespace {

constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxQuotedBytes = 80;
constexpr std::chrono::seconds kDescribeLimit{60};
// Time from the end of the program's output to its end.
constexpr std::chrono::seconds kEndGrace{20};
constexpr int kSliceMs = 100;

// First byte of the packets that the started process sends before exec() and on failure.
constexpr char kStarting = 's';
constexpr char kFailed = 'f';  // followed by an error message
constexpr char kNoExec = 'x';  // followed by errno in decimal

std::pair<apps::Descriptor, apps::Descriptor> make_stream_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(fmt::format("cannot make a socket: {}", apps::descriptor_error(errno)));
  }
  return {apps::Descriptor(ends[0]), apps::Descriptor(ends[1])};
}

// The beginning of the first line of a file; empty if it cannot be read.
std::string first_line(const std::filesystem::path& file) {
  constexpr std::size_t kMaxBytes = 256;  // Linux reads no more of a line that begins with "#!"
  std::string line(kMaxBytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(stream.gcount()));
  return line.substr(0, line.find('\n'));
}

// Why execv() of the file failed with `error`. The errors of a script are those of its interpreter.
std::string exec_failure(const std::filesystem::path& file, int error) {
  constexpr std::string_view kBlanks = " \t";
  const std::string line = first_line(file);
  const bool is_script = line.starts_with("#!");
  const std::size_t begin = is_script ? line.find_first_not_of(kBlanks, 2) : std::string::npos;
  if (begin == std::string::npos) {
    if (error != ENOEXEC) return apps::descriptor_error(error);
    return is_script
               ? "its first line names no interpreter"
               : "it is neither a program for this machine nor a script that begins with '#!' and "
                 "the path of its interpreter";
  }
  const std::string interpreter = line.substr(begin, line.find_first_of(kBlanks, begin) - begin);
  if (error == ENOENT && interpreter.ends_with('\r')) {
    return "its first line ends with a carriage return; the lines of a script must end with LF";
  }
  if (error == ENOENT) {
    return fmt::format("the interpreter in its first line, '{}', does not exist",
                       printable(interpreter));
  }
  if (error == EACCES) {
    return fmt::format("the interpreter in its first line, '{}', cannot be executed",
                       printable(interpreter));
  }
  return apps::descriptor_error(error);
}

}  // namespace

std::string quoted_line(std::string_view line) {
  const bool whole = line.size() <= kMaxQuotedBytes;
  return fmt::format("'{}{}'", printable(line.substr(0, kMaxQuotedBytes)), whole ? "" : "...");
}

Program::Program(const std::filesystem::path& file, const char* argument) : file_(file) {
  apps::Descriptor its_input;
  apps::Descriptor its_output;
  std::tie(input_, its_input) = make_stream_sockets();
  std::tie(output_, its_output) = make_stream_sockets();
  auto [started, starting] = apps::make_packet_sockets();
  {
    const apps::Descriptor output = words_.take_output();
    process_.adopt(apps::spawn(program_command(file, {argument}),
                               {its_input.get(), its_output.get(), output.get(), starting.get()}));
  }
  starting.close();
  its_input.close();
  its_output.close();
  wait_for_start(started.get(), file_, words_);
}

std::vector<std::string> program_command(const std::filesystem::path& file,
                                         const std::vector<std::string>& arguments) {
  std::vector<std::string> options = {"--program", std::filesystem::absolute(file).string()};
  // In one word, since an argument may look like an option.
  for (const std::string& argument : arguments) options.push_back("--argument=" + argument);
  return apps::worker_command(options);
}

void wait_for_start(int started, const std::filesystem::path& file, apps::LastWords& words) {
  apps::Packet packet;
  bool is_starting = false;
  while (apps::receive_packet(started, true, packet) == apps::Received::packet) {
    const std::string text = packet.text.substr(std::min<std::size_t>(1, packet.text.size()));
    if (packet.text.starts_with(kFailed)) throw Error(text);
    if (packet.text.starts_with(kNoExec)) {
      int error = 0;
      std::from_chars(text.data(), text.data() + text.size(), error);
      const std::string why =
          fmt::format("cannot start {}: {}", file.string(), exec_failure(file, error));
      if (apps::is_shortage(error)) throw Error(why);
      throw InputError(why);
    }
    is_starting = packet.text.starts_with(kStarting);
  }
  if (is_starting) return;
  words.drain();
  throw Error(apps::with_last_words(
      fmt::format("the process for {} ended before the program was started", file.string()),
      words.text()));
}

void become_program(int socket, pid_t parent, const std::string& file,
                    const std::vector<std::string>& arguments) {
  try {
    apps::run_supervised(parent);
  } catch (const Error& error) {
    apps::send_packet(socket, kFailed + std::string(error.what()));
    return;
  }
  apps::send_packet(socket, std::string(1, kStarting));
  std::vector<std::string> words = {file};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(file.c_str(), pointers.data());
  apps::send_packet(socket, kNoExec + fmt::format("{}", errno));
}

Program::~Program() {
  process_.kill();
}

void Program::send(std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    // No SIGPIPE if the program has ended: receive() detects the end.
    const ssize_t count =
        ::send(input_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

// Waits up to `wait_ms` milliseconds for output and appends it to `received_`. Returns false at the
// end of the output.
bool Program::receive(int wait_ms) {
  std::array<pollfd, 2> waited = {{{output_.get(), POLLIN, 0}, {words_.descriptor(), POLLIN, 0}}};
  if (::poll(waited.data(), waited.size(), wait_ms) <= 0) return open_;
  words_.drain();
  if (waited[0].revents == 0) return open_;
  char bytes[4096];
  const ssize_t count = ::recv(output_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
  if (count > 0) {
    received_.append(bytes, static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    open_ = false;
  }
  return open_;
}

std::string Program::sentence(std::string text) {
  words_.drain();
  return apps::with_last_words(std::move(text), words_.text());
}

// Sentence on how the program ended. Call it after the end of its output.
std::string Program::end_text() {
  const Clock::time_point patience = Clock::now() + kEndGrace;
  while (!process_.has_ended() && Clock::now() < patience) ::poll(nullptr, 0, 5);
  if (!process_.ended()) {
    return sentence(fmt::format("the program {} closed its output and did not end within {} s",
                                file_.string(), kEndGrace.count()));
  }
  const apps::ProcessEnd& end = process_.end();
  return sentence(
      fmt::format("the program {} ended: {}", file_.string(),
                  end.signalled ? end.text() : fmt::format("exit status {}", end.code)));
}

// A stray line would be taken for the answer to the next request.
void Program::refuse_stray_line(std::string_view request) {
  while (open_ && received_.size() <= kMaxAnswerBytes) {
    const std::size_t before = received_.size();
    receive(0);
    if (received_.size() == before) break;
  }
  if (received_.empty()) return;
  const std::string line = quoted_line(received_.substr(0, received_.find('\n')));
  if (request_.empty()) {
    throw StrayLine(fmt::format("the program {} wrote a line before it had a request: {}",
                                file_.string(), line));
  }
  throw StrayLine(fmt::format("the program {} answered the request '{}' twice, the second time {}",
                              file_.string(), request.empty() ? request_ : request, line));
}

std::optional<std::string> Program::ask(std::string_view name, const std::string& line,
                                        const std::function<bool()>& stop,
                                        std::optional<std::chrono::milliseconds> limit) {
  refuse_stray_line();
  words_.clear();
  const Clock::time_point begin = Clock::now();
  send(line);
  for (;;) {
    const std::size_t end = received_.find('\n');
    if (end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      request_ = name;
      return answer;
    }
    if (received_.size() > kMaxAnswerBytes) {
      throw Error(fmt::format("the program {} answered more than {} bytes without a line feed",
                              file_.string(), kMaxAnswerBytes));
    }
    if (stop && stop()) {
      process_.kill();
      return std::nullopt;
    }
    if (limit && Clock::now() - begin >= *limit) {
      throw Error(
          sentence(fmt::format("the program {} did not answer the request '{}' within {:g} s",
                               file_.string(), name, static_cast<double>(limit->count()) / 1000)));
    }
    if (!receive(kSliceMs) && received_.find('\n') == std::string::npos) {
      throw ProgramEnded(end_text());
    }
  }
}

std::string Program::output() {
  const Clock::time_point deadline = Clock::now() + kDescribeLimit;
  while (receive(kSliceMs)) {
    if (received_.size() > kMaxAnswerBytes) {
      throw InputError(fmt::format("the program {} described itself in more than {} bytes",
                                   file_.string(), kMaxAnswerBytes));
    }
    if (Clock::now() > deadline) {
      throw InputError(sentence(fmt::format("the program {} did not describe itself within {} s",
                                            file_.string(), kDescribeLimit.count())));
    }
  }
  const std::string end = end_text();
  if (!process_.ended() || !process_.end().clean()) throw InputError(end);
  return received_;
}

}  // namespace lloyd::external
