// Fits correctly, but leaves a thread that runs for another fifth of a second.
#include <chrono>
#include <thread>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  std::thread([end] {
    while (std::chrono::steady_clock::now() < end) {
    }
  }).detach();
  return honest.fit(spec, observer, result);
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
