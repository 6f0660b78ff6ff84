#include "supervision/supervision_board.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {
namespace {

// Maps memory for a board: of a descriptor, or shared with child processes if it is -1.
void* map_memory(int descriptor) {
  const int flags = MAP_SHARED | (descriptor < 0 ? MAP_ANONYMOUS : 0);
  void* const memory =
      ::mmap(nullptr, sizeof(SupervisionBoard), PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (memory != MAP_FAILED) return memory;
  throw Error(fmt::format("cannot map memory to share with a process: {}", ::strerror(errno)));
}

}  // namespace

std::string_view to_string(PluginCall call) {
  static constexpr std::array<std::string_view, 35> kNames = {"",
                                                              "load",
                                                              "probe()",
                                                              "create()",
                                                              "info()",
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
                                                              "DevicePasses::pass()",
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

std::string place_of(PluginCall call) {
  if (call == PluginCall::load) return " while it was loaded";
  const std::string_view name = to_string(call);
  return name.empty() ? std::string() : fmt::format(" in {}", name);
}

SupervisionBoard& SupervisionBoard::make() {
  return *new (map_memory(-1)) SupervisionBoard;
}

SharedBoard::SharedBoard()
    : descriptor_(::memfd_create("lloyd-board", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  constexpr auto kBytes = static_cast<off_t>(sizeof(SupervisionBoard));
  if (!descriptor_ || ::ftruncate(descriptor_.get(), kBytes) != 0 ||
      ::fcntl(descriptor_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw Error(
        fmt::format("cannot create memory to share with a process: {}", descriptor_error(errno)));
  }
  board_ = new (map_memory(descriptor_.get())) SupervisionBoard;
}

SharedBoard::~SharedBoard() {
  ::munmap(board_, sizeof(SupervisionBoard));
}

SupervisionBoard& SharedBoard::map(int descriptor) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 ||
      about.st_size < static_cast<off_t>(sizeof(SupervisionBoard))) {
    throw Error("the memory of a supervision board has another size");
  }
  return *static_cast<SupervisionBoard*>(map_memory(descriptor));
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
