#include "experiment/yaml/config_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <lloyd/internal/status_text.hpp>

#include "text/utf8.hpp"

namespace lloyd::experiment {
namespace {

using apps::continues_code_point;

using Texts = std::pair<std::string_view, std::string_view>;

// Messages of yaml-cpp with plainer words for authors of experiments.
constexpr std::array<Texts, 8> kPlainWords = {{
    {"illegal map value",
     "':' is not allowed here: check the indentation, and put a text that holds ': ' in quotes"},
    {"illegal block entry", "'- ' is not allowed here: check the indentation"},
    {"end of map flow not found", "a '{' above is not closed before this"},
    {"end of sequence flow not found", "a '[' above is not closed before this"},
    {"illegal flow end", "this bracket has no matching opening bracket"},
    {"illegal EOF in scalar", "a quote is not closed"},
    {"unknown token", "a value cannot begin with this character: put it in quotes"},
    {"end of map not found", "a key of the map is expected here: check the indentation"},
}};

// Size in bytes of the UTF-8 code point at the start of `text`, which is not empty; 0 if it is
// invalid.
std::size_t code_point_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(size),
                   continues_code_point)) {
    return 0;
  }
  // Rejects overlong forms, surrogates, and code points beyond Unicode.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool valid = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f) &&
                     !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
  return valid ? size : 0;
}

// Returns the position after the closing quote of the quoted text at `at`; npos if it is not
// closed.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return at + 1;
      ++at;  // a doubled quote is an escaped quote
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view checked_text(std::string_view text, const Place& begin) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Place place = begin;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t size = code_point_size(text.substr(at));
    if (size == 0) {
      place.fail(fmt::format("the byte 0x{:02x} is not UTF-8: save the file in UTF-8", byte));
    }
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f) {
      place.fail(fmt::format("the control character 0x{:02x} is not allowed here", byte));
    }
    ++place.column;
    if (byte == '\n') {
      ++place.line;
      place.column = 1;
    }
    at += size;
  }
  return text;
}

void refuse_directives(std::string_view text, const Place& begin) {
  Place place = begin;
  bool has_begun = false;
  for (; !text.empty(); ++place.line) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with('%')) {
      if (!has_begun && (line.starts_with("%YAML ") || line.starts_with("%TAG "))) continue;
      place.fail(
          "a line must not begin with '%' here, because YAML ignores it: begin a comment with '#', "
          "and indent the lines of a text");
    }
    const std::size_t first = line.find_first_not_of(" \t\r");
    has_begun = has_begun || (first != std::string_view::npos && line[first] != '#');
  }
}

bool is_closed(std::string_view text, std::size_t at) {
  constexpr std::string_view kBeforeToken = " \t\r\n[]{},:";
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    const bool begins_token = at == 0 || kBeforeToken.find(text[at - 1]) != std::string_view::npos;
    if ((c == '"' || c == '\'') && (begins_token || depth == 0)) {
      at = end_of_quoted(text, at);
      if (at == std::string_view::npos) return false;
      if (depth == 0) return true;
      continue;
    }
    if (c == '#' && begins_token) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && --depth == 0) return true;
    ++at;
  }
  return false;
}

std::string yaml_error_text(std::string_view text, const Place& place, const std::string& message) {
  std::string_view rest = text;
  for (int i = 1; i < place.line && !rest.empty(); ++i) {
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  }
  const std::string_view indentation = rest.substr(0, rest.find_first_not_of(" \t"));
  if (indentation.find('\t') != std::string_view::npos) {
    return fmt::format("line {} is indented with a tab: YAML is indented with blanks", place.line);
  }
  const auto* found = std::find_if(kPlainWords.begin(), kPlainWords.end(),
                                   [&](const Texts& texts) { return texts.first == message; });
  if (found == kPlainWords.end()) return message;
  const bool may_end_long_key = message == kPlainWords[0].first && place.column > kMaxKeyBytes;
  return fmt::format(
      "{}{}", found->second,
      may_end_long_key ? fmt::format("; a key may have at most {} bytes", kMaxKeyBytes) : "");
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kMaxBytes = 100;
  const std::string_view beginning = cut_text(text, kMaxBytes);
  if (beginning.size() == text.size()) return std::string(text);
  return fmt::format("{}... ({} bytes)", beginning, text.size());
}

}  // namespace lloyd::experiment
