#include "machine/system/system_files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <ios>
#include <iterator>
#include <utility>

namespace lloyd::machine {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Removes and returns the part of `rest` up to the separator, which is removed too.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

std::string SystemFiles::text(std::string_view file) const {
  std::ifstream stream(root_ / std::filesystem::path(file).relative_path());
  std::string content;
  try {
    content.assign(std::istreambuf_iterator<char>(stream), {});
  } catch (const std::ios_base::failure&) {  // the process described by the file has just ended
  }
  while (!content.empty() && content.back() == '\n') content.pop_back();
  return content;
}

std::vector<std::string> SystemFiles::numbered(std::string_view folder,
                                               std::string_view prefix) const {
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::error_code error;
  std::filesystem::directory_iterator entry(root_ / std::filesystem::path(folder).relative_path(),
                                            error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::int64_t number = number_of(name.substr(prefix.size()));
    if (number >= 0) found.emplace_back(number, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [number, name] : found) names.push_back(std::move(name));
  return names;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) lines.push_back(take(text, '\n'));
  return lines;
}

std::string field_of(std::string_view text, std::string_view key) {
  for (std::string_view line : lines_of(text)) {
    if (trimmed(take(line, ':')) == key) return std::string(trimmed(line));
  }
  return {};
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    if (take(words, ' ') == word) return true;
  }
  return false;
}

std::int64_t number_of(std::string_view text) {
  text = trimmed(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value >= 0 ? value : -1;
}

std::vector<int> processors_of(std::string_view list) {
  std::vector<int> processors;
  while (!list.empty()) {
    std::string_view range = take(list, ',');
    const bool single = range.find('-') == std::string_view::npos;
    const std::int64_t first = number_of(take(range, '-'));
    const std::int64_t last = single ? first : number_of(range);
    if (first < 0 || last < first || last >= kMaxProcessors) return {};
    for (std::int64_t p = first; p <= last; ++p) processors.push_back(static_cast<int>(p));
  }
  return processors;
}

}  // namespace lloyd::machine
