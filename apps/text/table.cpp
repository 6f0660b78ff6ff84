#include "text/table.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "text/utf8.hpp"

namespace lloyd::experiment {
namespace {

using apps::continues_code_point;

constexpr std::size_t kGap = 2;
constexpr std::size_t kMaxWholeWord = 20;  // longer words may be broken

// Byte length of the first `count` code points.
std::size_t prefix_bytes(const std::string& text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && continues_code_point(text[at])) ++at;
    --count;
  }
  return at;
}

std::string pad(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, text_width(text)), ' ');
  return right ? blanks + text : text + blanks;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// True if the character before `end` is a hyphen that follows two letters and precedes one. So
// k-means is not broken.
bool ends_part(const std::string& text, std::size_t end) {
  return end >= 3 && end < text.size() && text[end - 1] == '-' && is_letter(text[end - 2]) &&
         is_letter(text[end - 3]) && is_letter(text[end]);
}

// Position after the last hyphen of ends_part() in the first `limit` bytes, else after the last of
// the signs =/_,; `limit` if there is none.
std::size_t end_of_part(const std::string& text, std::size_t limit) {
  for (std::size_t end = limit; end >= 2; --end) {
    if (ends_part(text, end)) return end;
  }
  for (std::size_t end = limit; end >= 2; --end) {
    if (std::string_view("=/_,").find(text[end - 1]) != std::string_view::npos) return end;
  }
  return limit;
}

// True if a line may end at `at`: a blank, but not inside an interval "1.2 - 1.3".
bool is_break(const std::string& text, std::size_t at) {
  if (text[at] != ' ') return false;
  const bool before_dash = text.compare(at, 3, " - ") == 0;
  const bool after_dash = at >= 2 && text.compare(at - 2, 3, " - ") == 0;
  return !before_dash && !after_dash;
}

// The last break up to `limit`; npos if there is none.
std::size_t find_break(const std::string& text, std::size_t limit) {
  for (std::size_t at = std::min(limit, text.size() - 1) + 1; at-- > 0;) {
    if (is_break(text, at)) return at;
  }
  return std::string::npos;
}

// Width of the longest part that wrap() cannot break well; `whole_intervals`: intervals count as
// unbreakable.
std::size_t longest_part(const std::string& text, bool whole_intervals) {
  std::size_t longest = 0;
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    const bool at_blank =
        end < text.size() && (whole_intervals ? is_break(text, end) : text[end] == ' ');
    if (end < text.size() && !at_blank && !ends_part(text, end)) continue;
    longest = std::max(longest, text_width(text.substr(begin, end - begin)));
    begin = at_blank ? end + 1 : end;
  }
  return longest;
}

std::size_t table_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
}

void append_line(std::string& target, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  target += line + '\n';
}

// Cells side by side, each wrapped in its column.
std::string lay_out(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    const std::vector<bool>& right) {
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 1;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    lines.push_back(wrap(cells[c], widths[c]));
    height = std::max(height, lines.back().size());
  }
  std::string result;
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line.append(kGap, ' ');
      line += pad(i < lines[c].size() ? lines[c][i] : "", widths[c], right[c]);
    }
    append_line(result, std::move(line));
  }
  return result;
}

}  // namespace

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_code_point(c); }));
}

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::string rest = text;
  for (char& c : rest) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  std::vector<std::string> lines;
  while (text_width(rest) > width) {
    const std::size_t limit = prefix_bytes(rest, width);
    std::size_t blank = find_break(rest, limit);
    if (blank == std::string::npos) blank = rest.rfind(' ', limit);
    const bool at_blank = blank != std::string::npos && blank > 0;
    const std::size_t end = at_blank ? blank : end_of_part(rest, limit);
    lines.push_back(rest.substr(0, end));
    rest.erase(0, at_blank ? end + 1 : end);
  }
  lines.push_back(rest);
  return lines;
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::string result;
  for (const std::string& line : wrap(text, width)) result += line + '\n';
  return result;
}

// Widens the columns that a text spans, if the table has room, so that the text is not wrapped to a
// few characters.
void Table::make_room_for_texts(std::vector<std::size_t>& widths, std::size_t width) const {
  constexpr std::size_t kMaxTextWidth = 40;
  std::size_t total = table_width(widths);
  for (const Row& row : rows_) {
    if (row.text.empty() || row.last_cells.empty()) continue;
    const std::size_t last = widths.size() - row.last_cells.size();
    std::size_t span = kGap * (last - row.cells.size() - 1);
    for (std::size_t c = row.cells.size(); c < last; ++c) span += widths[c];
    const std::size_t wanted = std::min(text_width(row.text), kMaxTextWidth);
    const std::size_t more =
        std::min(wanted - std::min(wanted, span), width - std::min(width, total));
    widths[last - 1] += more;
    total += more;
  }
}

std::vector<std::size_t> Table::column_widths(std::size_t width) const {
  std::vector<std::size_t> headers;
  for (const Column& column : columns_) headers.push_back(text_width(column.header));
  std::vector<std::size_t> widths = headers;
  std::vector<std::size_t> intervals = headers;
  std::vector<std::size_t> parts = headers;
  std::vector<std::size_t> words;
  for (const Column& column : columns_) words.push_back(longest_part(column.header, false));
  for (const Row& row : rows_) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      widths[c] = std::max(widths[c], text_width(row.cells[c]));
      intervals[c] = std::max(intervals[c], longest_part(row.cells[c], true));
      parts[c] = std::max(parts[c], longest_part(row.cells[c], false));
      words[c] = std::max(words[c], longest_part(row.cells[c], false));
    }
    for (std::size_t l = 0; l < row.last_cells.size(); ++l) {
      const std::size_t c = widths.size() - row.last_cells.size() + l;
      widths[c] = std::max(widths[c], text_width(row.last_cells[l]));
      intervals[c] = std::max(intervals[c], longest_part(row.last_cells[l], true));
      parts[c] = std::max(parts[c], longest_part(row.last_cells[l], false));
      words[c] = std::max(words[c], longest_part(row.last_cells[l], false));
    }
  }
  // Shrinks the widest columns first: down to whole intervals, then to the parts that cannot be
  // broken well, then to the words of headers, then to kMaxWholeWord.
  std::vector<std::size_t> cut_words = words;
  for (std::size_t& word : cut_words) word = std::min(word, kMaxWholeWord);
  for (const std::vector<std::size_t>& least : {intervals, parts, words, cut_words}) {
    while (table_width(widths) > width) {
      std::size_t widest = widths.size();
      for (std::size_t c = 0; c < widths.size(); ++c) {
        if (widths[c] > least[c] && (widest == widths.size() || widths[c] > widths[widest])) {
          widest = c;
        }
      }
      if (widest == widths.size()) break;
      --widths[widest];
    }
  }
  make_room_for_texts(widths, width);
  return widths;
}

// The text is as wide as the columns that it spans; without last cells it extends to `width`.
std::string Table::lay_out_text(const Row& row, const std::vector<std::size_t>& widths,
                                std::size_t width) const {
  const std::size_t first = row.cells.size();
  const std::size_t last = widths.size() - row.last_cells.size();
  std::vector<std::string> cells = row.cells;
  std::vector<std::size_t> text_widths;
  std::vector<bool> right;
  std::size_t used = 0;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (c == first) {
      cells.push_back(row.text);
      text_widths.push_back(0);
      right.push_back(false);
    }
    if (c >= first && c < last) {
      text_widths.back() += widths[c] + (c > first ? kGap : 0);
      continue;
    }
    if (c >= last) cells.push_back(row.last_cells[c - last]);
    text_widths.push_back(widths[c]);
    right.push_back(columns_[c].right);
    used += widths[c] + kGap;
  }
  if (row.last_cells.empty()) {
    const std::size_t end = std::max(width, table_width(widths));
    text_widths.back() = std::max<std::size_t>(1, end - std::min(end, used));
  }
  return lay_out(cells, text_widths, right);
}

std::string Table::str(std::size_t width) const {
  const std::vector<std::size_t> widths = column_widths(width);
  std::vector<std::string> headers;
  std::vector<bool> right;
  for (const Column& column : columns_) {
    headers.push_back(column.header);
    right.push_back(column.right);
  }
  std::string result = lay_out(headers, widths, right);
  result += std::string(table_width(widths), '-') + '\n';
  for (const Row& row : rows_) {
    if (row.text.empty()) {
      result += lay_out(row.cells, widths, right);
      continue;
    }
    result += lay_out_text(row, widths, width);
  }
  return result;
}

}  // namespace lloyd::experiment
