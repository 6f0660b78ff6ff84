#include "supervision/guest_scope.hpp"

#include <cstdio>

#include <lloyd/error.hpp>

namespace lloyd::apps {

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
  std::fflush(stdout);  // what the plugin printed and has not flushed
  before_.restore();
}

}  // namespace lloyd::apps
