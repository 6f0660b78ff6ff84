#include <lloyd/internal/json_fields.hpp>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

namespace lloyd {

using nlohmann::ordered_json;

namespace {

// The value for a message, shortened if it is long.
std::string json_excerpt(const ordered_json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_number()) return value.dump();
  if (!value.is_string()) return value.is_null() ? "null" : value.dump();
  constexpr std::size_t kMax = 60;
  const std::string& text = value.get_ref<const std::string&>();
  return fmt::format("'{}{}'", cut_text(text, kMax), text.size() > kMax ? "..." : "");
}

}  // namespace

JsonFields::JsonFields(const ordered_json& json, std::string path)
    : json_(json), path_(std::move(path)) {
  if (json.is_object()) return;
  throw InputError(fmt::format("{} is {}, not an object",
                               path_.empty() ? "the line" : fmt::format("'{}'", path_),
                               json_excerpt(json)));
}

std::string JsonFields::path(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const ordered_json& JsonFields::at(std::string_view key) const {
  const auto found = json_.find(key);
  if (found == json_.end()) throw InputError(fmt::format("'{}' is missing", path(key)));
  return *found;
}

void JsonFields::fail(std::string_view key, std::string_view expected) const {
  throw InputError(fmt::format("'{}' is {}, not {}", path(key), json_excerpt(at(key)), expected));
}

JsonFields JsonFields::object(std::string_view key) const {
  return JsonFields(at(key), path(key));
}

const ordered_json& JsonFields::object_json(std::string_view key) const {
  if (!at(key).is_object()) fail(key, "an object");
  return at(key);
}

std::string JsonFields::text(std::string_view key) const {
  if (!at(key).is_string()) fail(key, "a text");
  return at(key).get<std::string>();
}

std::string JsonFields::text_or_null(std::string_view key) const {
  return is_null(key) ? std::string() : text(key);
}

std::string JsonFields::text_or_nothing(std::string_view key) const {
  return json_.contains(key) ? text_or_null(key) : std::string();
}

ordered_json JsonFields::list_or_nothing(std::string_view key) const {
  if (!json_.contains(key)) return ordered_json::array();
  if (!at(key).is_array()) fail(key, "a list");
  return at(key);
}

std::vector<std::string> JsonFields::texts(std::string_view key) const {
  const ordered_json& list = at(key);
  if (!list.is_array()) fail(key, "a list of texts");
  for (const ordered_json& value : list) {
    if (value.is_string()) continue;
    throw InputError(fmt::format("'{}' is a list with {} in it, not a list of texts", path(key),
                                 json_excerpt(value)));
  }
  return list.get<std::vector<std::string>>();
}

bool JsonFields::boolean(std::string_view key) const {
  if (!at(key).is_boolean()) fail(key, "true or false");
  return at(key).get<bool>();
}

std::int64_t JsonFields::integer(std::string_view key, std::int64_t minimum,
                                 std::int64_t maximum) const {
  const ordered_json& value = at(key);
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > kMax);
  if (fits && value.get<std::int64_t>() >= minimum && value.get<std::int64_t>() <= maximum) {
    return value.get<std::int64_t>();
  }
  fail(key, maximum == std::numeric_limits<std::int64_t>::max()
                ? fmt::format("an integer >= {}", minimum)
                : fmt::format("an integer from {} to {}", minimum, maximum));
}

std::uint64_t JsonFields::seed(std::string_view key) const {
  if (!at(key).is_number_unsigned()) {
    fail(key, fmt::format("an integer from 0 to {}", std::numeric_limits<std::uint64_t>::max()));
  }
  return at(key).get<std::uint64_t>();
}

double JsonFields::number(std::string_view key, double minimum) const {
  if (at(key).is_number() && at(key).get<double>() >= minimum) return at(key).get<double>();
  fail(key, fmt::format("a number >= {}", minimum));
}

double JsonFields::number_or_nan(std::string_view key, double minimum) const {
  return is_null(key) ? std::numeric_limits<double>::quiet_NaN() : number(key, minimum);
}

double JsonFields::number_or_nothing(std::string_view key, double minimum) const {
  return json_.contains(key) ? number_or_nan(key, minimum)
                             : std::numeric_limits<double>::quiet_NaN();
}

std::string JsonFields::hash(std::string_view key) const {
  std::string result = text(key);
  if (result.size() != 16 || result.find_first_not_of("0123456789abcdef") != std::string::npos) {
    fail(key, "16 hexadecimal digits");
  }
  return result;
}

}  // namespace lloyd
