// Allocates and touches more and more memory in fit. It stops far above the limit of any test, so
// that a limit that is not enforced fails the test instead of exhausting the machine.
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session&, const lloyd::FitSpec&, lloyd::Observer*,
                         lloyd::FitResult&) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  std::vector<std::unique_ptr<char[]>> taken;
  while (taken.size() < 4096) {
    taken.emplace_back(new char[kStep]);
    std::memset(taken.back().get(), 1, kStep);
  }
  while (true) ::pause();
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
