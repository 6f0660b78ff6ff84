#include "compare_calibration/resample.hpp"

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>

#include <lloyd/error.hpp>
#include <lloyd/random.hpp>

namespace lloyd::calibration {

using experiment::compare_rounds;
using experiment::compare_runs;
using experiment::TimeRatio;
using experiment::Timings;
using experiment::Verdict;

namespace {

constexpr std::size_t kRounds = 15;

double number(const std::string& text, const std::filesystem::path& file) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && last == end && value >= 0) return value;
  throw InputError(file.string() + ": '" + text + "' is not a number >= 0");
}

template <class T>
T& at(std::vector<T>& list, double index) {
  const auto place = static_cast<std::size_t>(index);
  if (place >= list.size()) list.resize(place + 1);
  return list[place];
}

Timings window(const std::vector<double>& times, std::size_t first, double factor) {
  Timings timings;
  for (std::size_t i = 0; i < kRounds; ++i) {
    timings[static_cast<std::int64_t>(i)] = times[first + i] * factor;
  }
  return timings;
}

}  // namespace

RecordedTimes read_times(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError(file.string() + ": cannot be opened");
  RecordedTimes times;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream cells(line);
    std::vector<double> values;
    for (std::string cell; std::getline(cells, cell, ',');) values.push_back(number(cell, file));
    if (values.size() < 3 + kRounds) throw InputError(file.string() + ": a line is too short");
    std::vector<double>& fit = at(at(at(times, values[0]), values[1]), values[2]);
    fit.assign(values.begin() + 3, values.end());
  }
  if (times.size() < 2) throw InputError(file.string() + ": has fewer than two runs");
  for (const auto& run : times) {
    for (const auto& setting : run) {
      if (setting.size() != 2 || run.size() != times.front().size() || setting[0].empty()) {
        throw InputError(file.string() + ": a run lacks a setting or one of two variants");
      }
    }
  }
  return times;
}

Shares resample(const RecordedTimes& times, Kind kind, double slowdown, std::int64_t comparisons,
                std::uint64_t seed) {
  std::int64_t faster = 0;
  std::int64_t slower = 0;
  for (std::int64_t c = 0; c < comparisons; ++c) {
    const RandomStream random(seed, static_cast<std::uint64_t>(c));
    std::uint64_t draws = 0;
    const auto below = [&](std::size_t bound) {
      return static_cast<std::size_t>(random.below(bound, draws++));
    };
    const std::size_t run = below(times.size());
    const std::size_t setting = below(times[run].size());
    const std::size_t variant = below(2);
    const std::vector<double>& older = times[run][setting][variant];
    const std::size_t first = below(older.size() - kRounds + 1);
    TimeRatio found;
    if (kind == Kind::rounds) {
      const std::vector<double>& newer = times[run][setting][1 - variant];
      found = compare_rounds(window(older, first, 1), window(newer, first, slowdown));
    } else {
      const std::size_t other = (run + 1 + below(times.size() - 1)) % times.size();
      const std::vector<double>& newer = times[other][setting][variant];
      const std::size_t other_first = below(newer.size() - kRounds + 1);
      found = compare_runs(window(older, first, 1), window(newer, other_first, slowdown));
    }
    faster += found.verdict == Verdict::faster;
    slower += found.verdict == Verdict::slower;
  }
  const auto share = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(comparisons);
  };
  return {share(faster), share(slower)};
}

}  // namespace lloyd::calibration
