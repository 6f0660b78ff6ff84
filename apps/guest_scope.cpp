#include "guest_scope.hpp"

#include <stdio_ext.h>
#include <unistd.h>

#include <cstdio>

#include <lloyd/error.hpp>

namespace lloyd::apps {

GuestScope::GuestScope() {
  std::fflush(stdout);  // what was printed before it
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

GuestScope::~GuestScope() {
  try {
    end();
  } catch (const Error&) {
    // An exception that is under way says what has happened.
  }
}

void GuestScope::end() {
  if (ended_) return;
  ended_ = true;
  std::fflush(stdout);
  before_.restore();
}

void finish_results() {
  ::__fpurge(stdout);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

}  // namespace lloyd::apps
