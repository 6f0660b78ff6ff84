#include "supervision/supervision_board.hpp"

#include <string.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <new>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {

std::string_view to_string(PluginCall call) {
  static constexpr std::array<std::string_view, 31> kNames = {"",
                                                              "load",
                                                              "supports()",
                                                              "estimate()",
                                                              "open()",
                                                              "fit()",
                                                              "label()",
                                                              "partial()",
                                                              "SeedingKernels::nearest()",
                                                              "SeedingKernels::gains()",
                                                              "ResidentSeeding::begin_seeding()",
                                                              "ResidentSeeding::add()",
                                                              "ResidentSeeding::weigh()",
                                                              "ResidentSeeding::find()",
                                                              "ResidentSeeding::rate()",
                                                              "ResidentSeeding::end_seeding()",
                                                              "PassKernels::begin()",
                                                              "PassKernels::pass()",
                                                              "PassKernels::farthest()",
                                                              "PassKernels::labels()",
                                                              "PassKernels::end()",
                                                              "WindowedPasses::begin()",
                                                              "WindowedPasses::pass()",
                                                              "WindowedPasses::farthest()",
                                                              "WindowedPasses::labels()",
                                                              "WindowedPasses::end()",
                                                              "evict()",
                                                              "query()",
                                                              "notes()",
                                                              "release() of its session",
                                                              "release()"};
  static_assert(kNames.size() == static_cast<std::size_t>(PluginCall::release_backend) + 1);
  const auto at = static_cast<std::size_t>(call);
  return at < kNames.size() ? kNames[at] : std::string_view();
}

SupervisionBoard& SupervisionBoard::make() {
  void* const memory = ::mmap(nullptr, sizeof(SupervisionBoard), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error(fmt::format("cannot map memory to share with a process: {}", ::strerror(errno)));
  }
  return *new (memory) SupervisionBoard;
}

PluginCall SupervisionBoard::mark(PluginCall call) noexcept {
  changed_at_ = Clock::now().time_since_epoch().count();
  return call_.exchange(call);
}

PluginCall SupervisionBoard::begin(PluginCall call) noexcept {
  ++running_calls_;
  return mark(call);
}

void SupervisionBoard::end(PluginCall former) noexcept {
  if (--running_calls_ == 0) {
    mark(PluginCall::none);
  } else if (former != PluginCall::none) {
    mark(former);
  }
}

void SupervisionBoard::clear_calls() noexcept {
  running_calls_ = 0;
  mark(PluginCall::none);
}

SupervisionBoard::Clock::time_point SupervisionBoard::changed_at() const noexcept {
  return Clock::time_point(Clock::duration(changed_at_));
}

void SupervisionBoard::set_status(int status) noexcept {
  changed_at_ = Clock::now().time_since_epoch().count();
  status_ = status;
}

}  // namespace lloyd::apps
