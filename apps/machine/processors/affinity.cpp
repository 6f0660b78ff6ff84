#include "machine/processors/affinity.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include <lloyd/plugin/sdk/machine/usable_processors.hpp>

namespace lloyd::machine {
std::vector<int> allowed_processors() {
  std::vector<int> processors = AffinityMask::of_this_thread().processors();
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
  return AffinityMask::of(processors).apply(::pthread_self());
}

int current_processor() {
  return ::sched_getcpu();
}

int move_to(int processor) {
  const AffinityMask before = AffinityMask::of_this_thread();
  if (!before.has(processor)) return current_processor();
  const bool moved = AffinityMask::of({processor}).apply(::pthread_self());
  const int current = current_processor();
  if (moved) before.apply(::pthread_self());
  return current;
}

}  // namespace lloyd::machine
