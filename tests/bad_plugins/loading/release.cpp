// Works correctly, but fails when it is released.
#include <unistd.h>

#include <cstdlib>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

[[maybe_unused]] void hang() {
  for (;;) ::pause();
}

}  // namespace

#if defined(LLOYD_SESSION_CRASHES)
LLOYD_EXPORT_MISBEHAVIOUR(.before_session_release = [] { std::abort(); });
#elif defined(LLOYD_SESSION_EXITS)
LLOYD_EXPORT_MISBEHAVIOUR(.before_session_release = [] { std::_Exit(0); });
#elif defined(LLOYD_SESSION_HANGS)
LLOYD_EXPORT_MISBEHAVIOUR(.before_session_release = hang);
#elif defined(LLOYD_BACKEND_CRASHES)
LLOYD_EXPORT_MISBEHAVIOUR(.before_backend_release = [] { std::abort(); });
#elif defined(LLOYD_BACKEND_HANGS)
LLOYD_EXPORT_MISBEHAVIOUR(.before_backend_release = hang);
#endif
