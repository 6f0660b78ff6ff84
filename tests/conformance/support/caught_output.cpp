#include "conformance/support/caught_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace lloyd::conformance {
namespace {

std::string drain(int source) {
  std::string text;
  char part[4096];
  while (true) {
    const ssize_t size = ::read(source, part, sizeof(part));
    if (size <= 0) return text;
    text.append(part, static_cast<std::size_t>(size));
  }
}

}  // namespace

CaughtOutput::CaughtOutput() {
  // Writing to a full pipe fails instead of waiting for a reader.
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  std::fflush(stdout);
  source_ = ends[0];
  saved_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (works()) ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[1]);
}

CaughtOutput::~CaughtOutput() {
  end();
  if (source_ >= 0) ::close(source_);
}

std::string CaughtOutput::take() {
  if (!works()) return {};
  std::fflush(stdout);
  std::string text = drain(source_);
  std::fflush(stdout);  // what did not fit into the pipe
  text += drain(source_);
  std::clearerr(stdout);
  return text;
}

std::string CaughtOutput::end() {
  std::string text = take();
  if (!works()) return text;
  ::dup2(saved_, STDOUT_FILENO);
  ::close(std::exchange(saved_, -1));
  return text;
}

}  // namespace lloyd::conformance
