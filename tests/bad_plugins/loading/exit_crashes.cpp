// Does everything as it should, and crashes when the process ends.
#include <cstdlib>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

struct Crash {
  ~Crash() { std::abort(); }
};
[[maybe_unused]] const Crash kCrash;

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR();
