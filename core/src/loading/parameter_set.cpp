#include <lloyd/parameter_set.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/plugin_struct.hpp>
#include <lloyd/internal/suggestion.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

namespace lloyd {
namespace {

ParameterValue default_value(const ParameterInfo& info) {
  ParameterValue value;
  value.name = info.name;
  value.type = info.type;
  value.integer = info.integer_default;
  value.number = info.number_default;
  return value;
}

template <class Number>
std::string describe_range(Number minimum, Number maximum) {
  const bool open_below = minimum == std::numeric_limits<Number>::lowest();
  const bool open_above = maximum == std::numeric_limits<Number>::max();
  if (open_below && open_above) return "any value";
  if (open_above) return fmt::format("at least {}", minimum);
  if (open_below) return fmt::format("at most {}", maximum);
  return fmt::format("{} to {}", minimum, maximum);
}

// Parses the whole text as a number within its range.
template <class Number>
Number parse_number(const ParameterInfo& info, std::string_view text, Number minimum,
                    Number maximum, std::string_view type_name) {
  const FloatEnvironment environment;
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  const bool is_number = stopped == end && error != std::errc::invalid_argument;
  // False for NaN, too.
  const bool in_range = error == std::errc() && value >= minimum && value <= maximum;
  std::string fault = fmt::format("is not {}", type_name);
  if (is_number) {
    if (has_leading_zero(text)) {
      fault = "has leading zeros";
    } else if (in_range) {
      return value;
    } else {
      fault = "is out of range";
    }
  }
  throw InputError(fmt::format("parameter '{}' is '{}', which {}; it takes {}", info.name, text,
                               fault, describe_range(minimum, maximum)));
}

bool parse_boolean(const ParameterInfo& info, std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw InputError(
      fmt::format("parameter '{}' is '{}', which is neither true nor false", info.name, text));
}

std::int64_t parse_choice(const ParameterInfo& info, std::string_view text) {
  const std::vector<std::string> choices(info.choices, info.choices + info.choice_count);
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) return found - choices.begin();
  throw InputError(
      fmt::format("parameter '{}' is '{}'{}", info.name, text, suggestion(text, choices)));
}

}  // namespace

ParameterSet::ParameterSet(const ParameterInfo* schema, std::int64_t count) {
  if (count <= 0) return;
  // The size of ParameterInfo in the plugin is the stride of its array; the program's struct may be
  // larger.
  constexpr std::uint64_t kFirstVersionSize =
      offsetof(ParameterInfo, choices) + sizeof(ParameterInfo::choices);
  const std::uint64_t size = schema->struct_size;
  if (size < kFirstVersionSize) {
    throw BackendError(StatusCode::internal,
                       fmt::format("the backend declares parameters of {} bytes; at least {} are "
                                   "needed",
                                   size, kFirstVersionSize));
  }
  const auto* entry = reinterpret_cast<const unsigned char*>(schema);
  for (std::int64_t i = 0; i < count; ++i, entry += size) {
    schema_.push_back(host_copy<ParameterInfo>(entry, size));
    values_.push_back(default_value(schema_.back()));
  }
}

void ParameterSet::set(std::string_view name, std::string_view text) {
  const std::size_t i = index(name);
  const ParameterInfo& info = schema_[i];
  ParameterValue& value = values_[i];
  switch (info.type) {
    case ParameterType::integer:
      value.integer = parse_number<std::int64_t>(info, text, info.integer_minimum,
                                                 info.integer_maximum, "an integer");
      return;
    case ParameterType::number:
      value.number =
          parse_number<double>(info, text, info.number_minimum, info.number_maximum, "a number");
      return;
    case ParameterType::boolean:
      value.integer = parse_boolean(info, text) ? 1 : 0;
      return;
    case ParameterType::choice:
      value.integer = parse_choice(info, text);
      return;
  }
  throw BackendError(StatusCode::internal, fmt::format("parameter '{}' has the unknown type {}",
                                                       info.name, static_cast<int>(info.type)));
}

std::string ParameterSet::text(std::string_view name) const {
  return text(index(name));
}

std::string ParameterSet::text(std::size_t index) const {
  const ParameterInfo& info = schema_[index];
  const ParameterValue& value = values_[index];
  switch (info.type) {
    case ParameterType::number:
      return fmt::format("{}", value.number);
    case ParameterType::boolean:
      return value.integer != 0 ? "true" : "false";
    case ParameterType::choice:
      return info.choices[value.integer];
    case ParameterType::integer:
      break;
  }
  return fmt::format("{}", value.integer);
}

std::string ParameterSet::describe_changes() const {
  std::string result;
  for (std::size_t i = 0; i < schema_.size(); ++i) {
    const ParameterValue standard = default_value(schema_[i]);
    if (values_[i].integer == standard.integer && values_[i].number == standard.number) continue;
    if (!result.empty()) result += ' ';
    result += fmt::format("{}={}", schema_[i].name, text(i));
  }
  return result;
}

std::map<std::string, std::string> ParameterSet::texts() const {
  std::map<std::string, std::string> result;
  for (std::size_t i = 0; i < schema_.size(); ++i) result.emplace(schema_[i].name, text(i));
  return result;
}

ParameterList ParameterSet::list() const {
  ParameterList list;
  list.values = values_.data();
  list.count = static_cast<std::int64_t>(values_.size());
  return list;
}

std::size_t ParameterSet::index(std::string_view name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < schema_.size(); ++i) {
    if (name == schema_[i].name) return i;
    names.emplace_back(schema_[i].name);
  }
  throw InputError(fmt::format("unknown parameter '{}'{}", name, suggestion(name, names)));
}

}  // namespace lloyd
