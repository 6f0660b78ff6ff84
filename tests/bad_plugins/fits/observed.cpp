// Misbehaves, as the build defines, while a fit is observed; unobserved fits are correct.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

#if defined(LLOYD_OBSERVED_CRASHES)
lloyd::Status misbehave(lloyd::Session&, const lloyd::FitSpec&, lloyd::FitResult&) {
  std::puts("somebody watches");
  std::fflush(stdout);
  const volatile std::uintptr_t nowhere = 64;              // volatile hides it from the compiler
  *reinterpret_cast<volatile std::int64_t*>(nowhere) = 1;  // NOLINT(performance-no-int-to-ptr)
  return {};
}
#elif defined(LLOYD_OBSERVED_EXITS)
std::mutex first_thread;  // exit() must not be called twice

lloyd::Status misbehave(lloyd::Session&, const lloyd::FitSpec&, lloyd::FitResult&) {
  first_thread.lock();
  std::exit(4);
}
#elif defined(LLOYD_OBSERVED_HANGS)
lloyd::Status misbehave(lloyd::Session&, const lloyd::FitSpec&, lloyd::FitResult&) {
  while (true) ::pause();
}
#elif defined(LLOYD_OBSERVED_EATS_MEMORY)
// The limit of 4 GiB is far above that of any test.
lloyd::Status misbehave(lloyd::Session&, const lloyd::FitSpec&, lloyd::FitResult&) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  std::vector<std::unique_ptr<char[]> > taken;
  while (taken.size() < 4096) {
    taken.emplace_back(new char[kStep]);
    std::memset(taken.back().get(), 1, kStep);
  }
  while (true) ::pause();
}
#elif defined(LLOYD_OBSERVED_COLD)
// Works correctly once the process has run an unobserved fit.
lloyd::Status misbehave(lloyd::Session&, const lloyd::FitSpec&, lloyd::FitResult&) {
  return lloyd::Status::error(lloyd::StatusCode::internal, "it is cold");
}
#else
// Reports no iterations.
lloyd::Status misbehave(lloyd::Session& honest, const lloyd::FitSpec& spec,
                        lloyd::FitResult& result) {
  return honest.fit(spec, nullptr, result);
}
#endif

#if defined(LLOYD_OBSERVED_COLD)
bool is_watched(const lloyd::FitSpec& spec) {
  static std::atomic<bool> warm = false;
  if (spec.observe == 0) warm = true;
  return !warm;
}
#else
bool is_watched(const lloyd::FitSpec& spec) {
  return spec.observe != 0;
}
#endif

lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec, lloyd::Observer* observer,
                  lloyd::FitResult& result) {
  return is_watched(spec) ? misbehave(honest, spec, result) : honest.fit(spec, observer, result);
}

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
