// Works correctly, but prints to standard output when the process ends.
#include <cstdio>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

struct Farewell {
  ~Farewell() { std::printf("tuning was saved\n"); }
};
[[maybe_unused]] const Farewell kFarewell;

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR();
