// Prints how often the verdicts of `lloyd compare` are right on recorded runs: see README.md.
#include <exception>

#include <fmt/format.h>

#include "compare_calibration/resample.hpp"

int main(int argc, char** argv) {
  using namespace lloyd::calibration;
  constexpr std::int64_t kComparisons = 2000;
  if (argc != 2) {
    fmt::print(stderr, "usage: compare_calibration SAMPLES\n");
    return 2;
  }
  try {
    const RecordedTimes times = read_times(argv[1]);
    fmt::print("{} comparisons each, 15 rounds\n", kComparisons);
    for (const Kind kind : {Kind::rounds, Kind::runs}) {
      for (const double slowdown : {1.0, 1.05, 1.1, 1.15, 1.2}) {
        const Shares shares = resample(times, kind, slowdown, kComparisons, 1);
        fmt::print("{:8} {:3.0f}% slowdown: {:5.1f}% called slower, {:5.1f}% faster\n",
                   kind == Kind::rounds ? "one run" : "two runs", 100 * (slowdown - 1),
                   100 * shares.slower, 100 * shares.faster);
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare_calibration: {}\n", error.what());
    return 2;
  }
  return 0;
}
