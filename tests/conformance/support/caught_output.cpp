#include "conformance/support/caught_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace lloyd::conformance {

CaughtOutput::CaughtOutput() : file_(std::tmpfile()) {
  if (!works()) return;
  std::fflush(stdout);
  saved_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  ::dup2(::fileno(file_.get()), STDOUT_FILENO);
}

CaughtOutput::~CaughtOutput() {
  end();
}

std::string CaughtOutput::end() {
  if (saved_ < 0) return {};
  std::fflush(stdout);
  ::dup2(saved_, STDOUT_FILENO);
  ::close(std::exchange(saved_, -1));
  std::rewind(file_.get());
  char text[60];
  return {text, std::fread(text, 1, sizeof(text), file_.get())};
}

}  // namespace lloyd::conformance
