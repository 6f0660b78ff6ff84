// CpuCounters: the processor's event counters of this process, by perf_event_open(2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lloyd::machine {

/// The events that are counted, as indices of arrays.
enum class CpuEvent : std::size_t { cycles, instructions, cache_misses };
inline constexpr std::size_t kCpuEvents = 3;

/// Counts in user mode; no value if the kernel refused the event.
struct CpuCounts {
  std::optional<std::int64_t> cycles;
  std::optional<std::int64_t> instructions;
  std::optional<std::int64_t> cache_misses;
  /// Which events the kernel refused, why, and what would be right; empty: none.
  std::string refusal;
};

/// A read(2) of an event's descriptor: PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING.
struct PerfReading {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;  ///< below `enabled_ns` if events took turns on a counter
};

/// Opens a disabled event of a thread, inherited by the threads that it will start. Returns a
/// descriptor, or -1 and sets errno.
int open_perf_event(CpuEvent event, int thread);

/// Counts of all threads that the process has when it is constructed, and of those that they start
/// afterwards. Serves one thread at a time. Throws std::bad_alloc only.
class CpuCounters {
 public:
  /// Opens the events, stopped. Tests replace `open`.
  explicit CpuCounters(int (*open)(CpuEvent event, int thread) = open_perf_event);
  ~CpuCounters();
  CpuCounters(const CpuCounters&) = delete;
  CpuCounters& operator=(const CpuCounters&) = delete;

  void start() noexcept;
  void stop() noexcept;
  /// The counts between all calls of start() and stop().
  CpuCounts read() const;

 private:
  std::array<std::vector<int>, kCpuEvents> descriptors_;  // one per thread; empty if refused
  std::array<int, kCpuEvents> errors_{};                  // errno of the refusal, or 0
};

/// The count as if the event had been on a counter for all the time; none if it never was.
std::optional<std::int64_t> scaled_count(const PerfReading& reading);

/// Why the kernel refuses an event with this errno, and what would be right. `paranoid`: value of
/// kernel.perf_event_paranoid, negative: unknown.
std::string refusal_reason(int error, std::int64_t paranoid);

}  // namespace lloyd::machine
