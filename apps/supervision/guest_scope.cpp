#include "supervision/guest_scope.hpp"

#include <cstdio>

#include <lloyd/error.hpp>

namespace lloyd::apps {

GuestScope::~GuestScope() {
  try {
    end();
  } catch (const Error&) {
    // Ignored: the exception in flight reports the failure.
  }
}

void GuestScope::end() {
  if (ended_) return;
  ended_ = true;
  std::fflush(stdout);  // output of the plugin that is still buffered
  before_.restore();
}

}  // namespace lloyd::apps
