// The processor's counters, with stand-ins for the kernel's events.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "machine/counters/cpu_counters.hpp"

namespace lloyd::machine {
namespace {

// A file with one reading.
int event_of(const PerfReading& reading) {
  const int file = ::memfd_create("event", MFD_CLOEXEC);
  EXPECT_EQ(::pwrite(file, &reading, sizeof(reading), 0), std::int64_t{sizeof(reading)});
  return file;
}

int open_without_cache_misses(CpuEvent event, int thread) {
  if (thread != ::getpid()) {
    errno = ESRCH;
    return -1;
  }
  if (event == CpuEvent::cache_misses) {
    errno = ENOENT;
    return -1;
  }
  return event_of({event == CpuEvent::cycles ? 1000u : 3000u, 50, 50});
}

int refuse_all(CpuEvent, int) {
  errno = EACCES;
  return -1;
}

int open_never_counting(CpuEvent, int) {
  return event_of({0, 50, 0});
}

TEST(CpuCounters, EachEventIsRefusedSeparately) {
  CpuCounters counters(open_without_cache_misses);
  counters.start();
  counters.stop();
  const CpuCounts counts = counters.read();
  EXPECT_EQ(counts.cycles, 1000);
  EXPECT_EQ(counts.instructions, 3000);
  EXPECT_FALSE(counts.cache_misses);
  EXPECT_EQ(counts.refusal, "cache misses: " + refusal_reason(ENOENT, -1));
}

TEST(CpuCounters, EqualRefusalsAreReportedTogether) {
  const CpuCounts counts = CpuCounters(refuse_all).read();
  EXPECT_FALSE(counts.cycles || counts.instructions || counts.cache_misses);
  EXPECT_TRUE(counts.refusal.starts_with("cycles, instructions, cache misses: ")) << counts.refusal;
  EXPECT_NE(counts.refusal.find("kernel.perf_event_paranoid"), std::string::npos);
}

TEST(CpuCounters, AnEventThatNeverCountedIsUnknown) {
  const CpuCounts counts = CpuCounters(open_never_counting).read();
  EXPECT_FALSE(counts.cycles);
  EXPECT_EQ(counts.refusal, "cycles, instructions, cache misses: " + refusal_reason(EBUSY, -1));
}

TEST(CpuCounters, MultiplexedCountsAreScaled) {
  EXPECT_EQ(scaled_count({1000, 80, 80}), 1000);
  EXPECT_EQ(scaled_count({1000, 80, 20}), 4000);
  EXPECT_EQ(scaled_count({0, 0, 0}), 0) << "a thread that slept";
  EXPECT_EQ(scaled_count({0, 80, 0}), std::nullopt);
}

TEST(CpuCounters, RefusalsSayWhatWouldBeRight) {
  EXPECT_NE(refusal_reason(EACCES, 3).find("is 3; at most 2 is needed"), std::string::npos);
  EXPECT_NE(refusal_reason(EPERM, 2).find("a container must permit perf_event_open"),
            std::string::npos);
  EXPECT_NE(refusal_reason(EMFILE, 2).find("ulimit -n"), std::string::npos);
}

// Whether the kernel permits counters depends on the machine.
TEST(CpuCounters, TheKernelCountsOrRefuses) {
  CpuCounters counters;
  counters.start();
  counters.stop();
  const CpuCounts counts = counters.read();
  EXPECT_EQ(counts.cycles && counts.instructions && counts.cache_misses, counts.refusal.empty());
}

}  // namespace
}  // namespace lloyd::machine
