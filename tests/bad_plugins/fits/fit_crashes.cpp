// Writes to an unmapped address.
#include <cstdint>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session&, const lloyd::FitSpec&, lloyd::Observer*,
                         lloyd::FitResult&) {
  const volatile std::uintptr_t nowhere = 64;              // volatile hides it from the compiler
  *reinterpret_cast<volatile std::int64_t*>(nowhere) = 1;  // NOLINT(performance-no-int-to-ptr)
  return {};
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
