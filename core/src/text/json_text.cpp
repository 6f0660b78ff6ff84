#include <lloyd/internal/json_text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/status_text.hpp>

namespace lloyd {

namespace {

using Json = nlohmann::ordered_json;

// Message for a syntax error. `byte` counts from 1, as the library does.
std::string syntax_error(std::string_view text, std::size_t byte) {
  if (text.empty()) return "it is not JSON: it is empty";
  if (byte > text.size()) {
    return fmt::format("it is not JSON: it ends after {} bytes, before its value does",
                       text.size());
  }
  const std::size_t last = std::max<std::size_t>(byte, 1) - 1;
  return fmt::format("it is not JSON: unexpected '{}' at byte {}", printable(text.substr(last, 1)),
                     byte);
}

// Message for a text that the library refuses.
std::string refusal_of(std::string_view text, const Json::exception& error) {
  const auto* const syntax = dynamic_cast<const Json::parse_error*>(&error);
  if (syntax != nullptr) return syntax_error(text, syntax->byte);
  return "it is not JSON that can be read: a number is beyond the range of float64";
}

// Counts from a quick scan of a JSON text; meaningful only if it is well-formed.
struct Outline {
  int levels = 0;                   // maximum nesting
  std::size_t keys = 0;             // of all objects, duplicates included
  std::size_t keys_of_largest = 0;  // of the object with most keys
};

// Deeper than `max_levels`, only `levels` is exact.
Outline outline_of(std::string_view text, int max_levels) {
  Outline outline;
  std::vector<std::size_t> keys(static_cast<std::size_t>(max_levels) + 1);  // by level
  const auto at_level = [&](int level) -> std::size_t& {
    return keys[static_cast<std::size_t>(std::clamp(level, 0, max_levels))];
  };
  int open = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
      continue;
    }
    if (c == '"') quoted = true;
    if (c == ':') {
      ++outline.keys;
      outline.keys_of_largest = std::max(outline.keys_of_largest, ++at_level(open));
    }
    if (c == '{' || c == '[') {
      outline.levels = std::max(outline.levels, ++open);
      at_level(open) = 0;
    }
    if (c == '}' || c == ']') --open;
  }
  return outline;
}

// Number of keys in all objects. Less than Outline::keys if there were duplicates, of which the
// library keeps one.
std::size_t keys_in(const Json& json) {
  if (!json.is_structured()) return 0;
  std::size_t keys = json.is_object() ? json.size() : 0;
  for (const Json& value : json) keys += keys_in(value);
  return keys;
}

// Throws InputError for invalid JSON, excessive nesting, or a duplicate key, which it names.
Json parse_strictly(std::string_view text, int max_levels) {
  std::vector<std::set<std::string>> keys;  // of the enclosing objects
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if ((event == Event::object_start || event == Event::array_start) && depth >= max_levels) {
      throw InputError(fmt::format("it is nested more than {} levels deep", max_levels));
    }
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second) {
      throw InputError(
          fmt::format("it has the key '{}' twice", shown(value.get_ref<const std::string&>())));
    }
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::exception& error) {
    throw InputError(refusal_of(text, error));
  }
}

}  // namespace

std::ifstream open_text_file(const std::filesystem::path& file) {
  if (file.empty()) throw InputError("the path of the file to read is empty");
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (exists(status) && !is_regular_file(status)) {
    throw InputError(fmt::format("{}: is not a regular file", file.string()));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw InputError(
        fmt::format("{}: cannot be opened: {}", file.string(), descriptor_error(errno)));
  }
  return stream;
}

std::string read_text_file(const std::filesystem::path& file) {
  std::ifstream stream = open_text_file(file);
  std::string text;
  std::array<char, 1 << 16> piece;
  do {
    stream.read(piece.data(), piece.size());
    const std::string_view read(piece.data(), static_cast<std::size_t>(stream.gcount()));
    const std::size_t zero = read.find('\0');
    if (zero != std::string_view::npos) {  // do not read on: a sparse file may have any size
      throw InputError(
          fmt::format("{}: byte {} (counted from 0) is zero, which text must not contain",
                      file.string(), text.size() + zero));
    }
    text += read;
  } while (stream);
  if (stream.bad()) throw InputError(fmt::format("{}: cannot be read", file.string()));
  return text;
}

std::string utf8_text(std::string_view text) {
  std::string result(text);
  try {
    [[maybe_unused]] const std::string checked = Json(result).dump();
    return result;
  } catch (const Json::exception&) {
    result.clear();
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xc0 | (byte >> 6));
      result += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return result;
}

std::vector<std::string> utf8_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> result;
  for (const std::string& text : texts) result.push_back(utf8_text(text));
  return result;
}

Json parse_json(std::string_view text, int max_levels) {
  // Parsing without a callback takes a third of the time, so duplicates are detected by counts
  // first.
  const Outline outline = outline_of(text, max_levels);
  if (outline.keys_of_largest > kMaxJsonKeys) {
    throw InputError(fmt::format("it has an object of {} keys; at most {} are allowed",
                                 outline.keys_of_largest, kMaxJsonKeys));
  }
  if (outline.levels > max_levels) return parse_strictly(text, max_levels);
  try {
    Json json = Json::parse(text);
    if (keys_in(json) == outline.keys) return json;
  } catch (const Json::exception& error) {
    throw InputError(refusal_of(text, error));
  }
  return parse_strictly(text, max_levels);
}

}  // namespace lloyd
