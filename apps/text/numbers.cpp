#include "text/numbers.hpp"

#include <array>
#include <cmath>

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

std::string format_count(std::int64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace lloyd::experiment
