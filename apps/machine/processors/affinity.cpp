#include "machine/processors/affinity.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

#include "machine/system/system_files.hpp"

namespace lloyd::machine {
namespace {

class AffinityMask {
 public:
  explicit AffinityMask(int room)
      : room_(room),
        size_(CPU_ALLOC_SIZE(room)),
        set_(CPU_ALLOC(room), [](cpu_set_t* set) { CPU_FREE(set); }) {
    if (set_ != nullptr) CPU_ZERO_S(size_, set_.get());
  }

  /// The calling thread's mask; no value if unknown.
  static std::optional<AffinityMask> get() {
    // The kernel refuses a mask smaller than its maximum number of processors.
    for (int room = CPU_SETSIZE; room <= kMaxProcessors; room *= 2) {
      AffinityMask mask(room);
      if (mask.set_ == nullptr) break;
      if (::sched_getaffinity(0, mask.size_, mask.set_.get()) == 0) return mask;
    }
    return std::nullopt;
  }

  bool set() const { return set_ != nullptr && ::sched_setaffinity(0, size_, set_.get()) == 0; }
  void add(int processor) {
    if (set_ != nullptr) CPU_SET_S(static_cast<std::size_t>(processor), size_, set_.get());
  }
  bool has(int processor) const {
    return processor >= 0 && processor < room_ &&
           CPU_ISSET_S(static_cast<std::size_t>(processor), size_, set_.get());
  }
  int room() const { return room_; }

 private:
  int room_;
  std::size_t size_;
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set_;
};

}  // namespace

std::vector<int> allowed_processors() {
  std::vector<int> processors;
  if (const auto mask = AffinityMask::get()) {
    for (int p = 0; p < mask->room(); ++p) {
      if (mask->has(p)) processors.push_back(p);
    }
  }
  if (!processors.empty()) return processors;
  processors.resize(static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))));
  for (std::size_t p = 0; p < processors.size(); ++p) processors[p] = static_cast<int>(p);
  return processors;
}

const std::vector<int>& processors_at_start() {
  static const std::vector<int> processors = allowed_processors();
  return processors;
}

bool run_on(const std::vector<int>& processors) {
  const int last = *std::max_element(processors.begin(), processors.end());
  AffinityMask mask(std::max(CPU_SETSIZE, last + 1));
  for (const int processor : processors) mask.add(processor);
  return mask.set();
}

int current_processor() {
  return ::sched_getcpu();
}

int move_to(int processor) {
  const auto before = AffinityMask::get();
  if (!before || !before->has(processor)) return current_processor();
  AffinityMask there(before->room());
  there.add(processor);
  const bool moved = there.set();
  const int current = current_processor();
  if (moved) before->set();
  return current;
}

}  // namespace lloyd::machine
