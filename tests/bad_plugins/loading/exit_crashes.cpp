// Works correctly, but crashes at process exit.
#include <cstdlib>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

struct Crash {
  ~Crash() { std::abort(); }
};
[[maybe_unused]] const Crash kCrash;

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR();
