#include "text/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace lloyd::experiment {

std::string format_number(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  if (size < 1e-3 || size >= 1e6) return fmt::format("{:.2e}", value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return size >= 0.9995 ? fmt::format("{:.2f}", value) : fmt::format("{:#.3g}", value);
}

int distinguishing_digits(std::vector<double> values, int minimum) {
  constexpr int kMaxDigits = 17;
  constexpr double kNoise = 8 * std::numeric_limits<double>::epsilon();
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  std::sort(values.begin(), values.end());
  const auto are_distinct = [&](int digits) {
    for (std::size_t i = 1; i < values.size(); ++i) {
      const double size = std::max(std::abs(values[i - 1]), std::abs(values[i]));
      if (values[i] / 2 - values[i - 1] / 2 <= kNoise / 2 * size) continue;
      if (fmt::format("{:.{}g}", values[i - 1], digits) ==
          fmt::format("{:.{}g}", values[i], digits)) {
        return false;
      }
    }
    return true;
  };
  int digits = minimum;
  while (digits < kMaxDigits && !are_distinct(digits)) ++digits;
  if (digits == minimum) return digits;
  const double largest = std::max(std::abs(values.front()), std::abs(values.back()));
  const int whole_digits = static_cast<int>(std::floor(std::log10(largest))) + 1;
  return whole_digits <= kMaxDigits ? std::max(digits, whole_digits) : digits;
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string format_seconds(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

std::string format_grouped(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ' ');
  return text;
}

std::string format_ms(double ms) {
  const double seconds = ms / 1000;
  // 999.5 has four digits when it is rounded to three.
  if (ms < 999.5) return fmt::format("{:.3g} ms", ms);
  return seconds < 99.95 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

}  // namespace lloyd::experiment
