#include "machine/counters/cpu_counters.hpp"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include <fmt/format.h>

#include "machine/system/system_files.hpp"

namespace lloyd::machine {
namespace {

constexpr std::array<const char*, kCpuEvents> kEventNames = {"cycles", "instructions",
                                                             "cache misses"};
constexpr std::array<std::uint64_t, kCpuEvents> kPerfEvents = {
    PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_MISSES};

std::int64_t perf_event_paranoid() {
  return number_of(SystemFiles().text("/proc/sys/kernel/perf_event_paranoid"));
}

std::optional<std::int64_t> read_count(int descriptor) {
  PerfReading reading;
  if (::read(descriptor, &reading, sizeof(reading)) != sizeof(reading)) return {};
  return scaled_count(reading);
}

}  // namespace

int open_perf_event(CpuEvent event, int thread) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = kPerfEvents[static_cast<std::size_t>(event)];
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

CpuCounters::CpuCounters(int (*open)(CpuEvent event, int thread)) {
  // All threads are listed before the first event is opened: a thread started after that inherits
  // the events of its parent and must not be opened as well.
  const std::vector<std::string> threads = SystemFiles().numbered("/proc/self/task", "");
  if (threads.empty()) errors_.fill(ENOENT);
  for (std::vector<int>& descriptors : descriptors_) descriptors.reserve(threads.size());
  for (std::size_t event = 0; event < kCpuEvents; ++event) {
    for (const std::string& thread : threads) {
      const int descriptor =
          open(static_cast<CpuEvent>(event), static_cast<int>(number_of(thread)));
      if (descriptor >= 0) {
        descriptors_[event].push_back(descriptor);
      } else if (errno != ESRCH) {  // the thread has ended
        errors_[event] = errno;
        break;
      }
    }
  }
}

CpuCounters::~CpuCounters() {
  for (const std::vector<int>& descriptors : descriptors_) {
    for (const int descriptor : descriptors) ::close(descriptor);
  }
}

// Both requests cannot fail for an open event, and apply to the inherited events, too.
void CpuCounters::start() noexcept {
  for (const std::vector<int>& descriptors : descriptors_) {
    for (const int descriptor : descriptors) ::ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0);
  }
}

void CpuCounters::stop() noexcept {
  for (const std::vector<int>& descriptors : descriptors_) {
    for (const int descriptor : descriptors) ::ioctl(descriptor, PERF_EVENT_IOC_DISABLE, 0);
  }
}

CpuCounts CpuCounters::read() const {
  std::array<std::optional<std::int64_t>, kCpuEvents> sums;
  std::array<int, kCpuEvents> errors = errors_;
  for (std::size_t event = 0; event < kCpuEvents; ++event) {
    if (errors[event] != 0) continue;
    sums[event] = 0;
    for (const int descriptor : descriptors_[event]) {
      const std::optional<std::int64_t> count = read_count(descriptor);
      if (!count) {
        sums[event].reset();
        errors[event] = EBUSY;
        break;
      }
      *sums[event] += *count;
    }
  }
  CpuCounts counts{sums[0], sums[1], sums[2], {}};
  // Events that were refused for the same reason share a clause.
  for (std::size_t event = 0; event < kCpuEvents; ++event) {
    const int error = errors[event];
    if (error == 0) continue;
    std::string names = kEventNames[event];
    for (std::size_t other = event + 1; other < kCpuEvents; ++other) {
      if (errors[other] != error) continue;
      names += fmt::format(", {}", kEventNames[other]);
      errors[other] = 0;
    }
    counts.refusal += fmt::format("{}{}: {}", counts.refusal.empty() ? "" : "; ", names,
                                  refusal_reason(error, perf_event_paranoid()));
  }
  return counts;
}

std::optional<std::int64_t> scaled_count(const PerfReading& reading) {
  if (reading.running_ns >= reading.enabled_ns) return static_cast<std::int64_t>(reading.value);
  if (reading.running_ns == 0) return {};
  const double share =
      static_cast<double>(reading.running_ns) / static_cast<double>(reading.enabled_ns);
  return std::llround(static_cast<double>(reading.value) / share);
}

std::string refusal_reason(int error, std::int64_t paranoid) {
  constexpr std::int64_t kMaxParanoid = 2;  // allows counts in user mode of one's own processes
  const char* const text = ::strerror(error);
  switch (error) {
    case EACCES:
    case EPERM:
      if (paranoid > kMaxParanoid) {
        return fmt::format("{} (kernel.perf_event_paranoid is {}; at most {} is needed)", text,
                           paranoid, kMaxParanoid);
      }
      return fmt::format(
          "{} (kernel.perf_event_paranoid must be at most {}, and a container must permit "
          "perf_event_open)",
          text, kMaxParanoid);
    case ENOENT:
    case EOPNOTSUPP:
      return fmt::format("{} (this processor or virtual machine has no such counter)", text);
    case ENOSYS:
      return fmt::format("{} (the kernel needs CONFIG_PERF_EVENTS)", text);
    case EMFILE:
      return fmt::format("{} (each thread of the trial needs {} descriptors; see ulimit -n)", text,
                         kCpuEvents);
    case EBUSY:
      return fmt::format("{} (other programs use the counters)", text);
    default:
      return text;
  }
}

}  // namespace lloyd::machine
