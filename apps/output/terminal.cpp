#include "output/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "output/result_stream.hpp"
#include "text/table.hpp"

namespace lloyd::apps {
namespace {

constexpr std::size_t kMinResultWidth = 60;

// The variable COLUMNS; none if it is unset or not a positive number.
std::optional<std::size_t> columns_variable() {
  const char* const value = std::getenv("COLUMNS");
  if (value == nullptr) return {};
  const std::string_view text(value);
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error != std::errc() || end != text.data() + text.size() || columns == 0) return {};
  return columns;
}

}  // namespace

std::optional<std::size_t> terminal_columns(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return size.ws_col;
}

std::size_t result_width() {
  std::optional<std::size_t> columns = columns_variable();
  if (!columns && ::isatty(result_descriptor()) != 0)
    columns = terminal_columns(result_descriptor());
  return std::max(columns.value_or(experiment::kTableWidth), kMinResultWidth);
}

}  // namespace lloyd::apps
