// Parameters of a backend: the schema it declares, and the values it is handed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <lloyd/plugin/status.hpp>

namespace lloyd {

/// Type of a parameter's values.
enum class ParameterType : std::int32_t {
  integer = 0,  ///< 64-bit integer
  number = 1,   ///< float64
  boolean = 2,  ///< true or false
  choice = 3,   ///< one of some words
};

/// Declares one parameter. Make it with integer_parameter() and its siblings.
struct ParameterInfo {
  std::uint64_t struct_size = sizeof(ParameterInfo);  ///< size in its maker's headers
  const char* name = nullptr;                         ///< without blanks and '='; not empty
  const char* meaning = nullptr;                      ///< one line: unit, what 0 means
  ParameterType type = ParameterType::integer;        ///< decides which fields below count
  std::int32_t choice_count = 0;                      ///< entries of `choices`
  std::int64_t integer_default = 0;      ///< also of a boolean (0, 1) and a choice (its index)
  std::int64_t integer_minimum = 0;      ///< least integer that is taken
  std::int64_t integer_maximum = 0;      ///< greatest integer that is taken
  double number_default = 0;             ///< of a number
  double number_minimum = 0;             ///< least number that is taken
  double number_maximum = 0;             ///< greatest number that is taken
  const char* const* choices = nullptr;  ///< the words of a choice
};
static_assert(sizeof(ParameterInfo) == 88);

/// An integer in [minimum, maximum]; `fallback` is the default. Texts live as long as the plugin.
constexpr ParameterInfo integer_parameter(const char* name, std::int64_t fallback,
                                          std::int64_t minimum, std::int64_t maximum,
                                          const char* meaning) {
  ParameterInfo info;
  info.name = name;
  info.meaning = meaning;
  info.type = ParameterType::integer;
  info.integer_default = fallback;
  info.integer_minimum = minimum;
  info.integer_maximum = maximum;
  return info;
}

/// A float64 number in [minimum, maximum].
constexpr ParameterInfo number_parameter(const char* name, double fallback, double minimum,
                                         double maximum, const char* meaning) {
  ParameterInfo info;
  info.name = name;
  info.meaning = meaning;
  info.type = ParameterType::number;
  info.number_default = fallback;
  info.number_minimum = minimum;
  info.number_maximum = maximum;
  return info;
}

/// True or false.
constexpr ParameterInfo boolean_parameter(const char* name, bool fallback, const char* meaning) {
  ParameterInfo info;
  info.name = name;
  info.meaning = meaning;
  info.type = ParameterType::boolean;
  info.integer_default = fallback ? 1 : 0;
  info.integer_maximum = 1;
  return info;
}

/// One of some words. `choices` must live as long as the plugin; the first one is the default.
template <std::int32_t Count>
constexpr ParameterInfo choice_parameter(const char* name, const char* const (&choices)[Count],
                                         const char* meaning) {
  ParameterInfo info;
  info.name = name;
  info.meaning = meaning;
  info.type = ParameterType::choice;
  info.choice_count = Count;
  info.choices = choices;
  info.integer_maximum = Count - 1;
  return info;
}

/// A value for one parameter. The core has checked it against the schema.
struct ParameterValue {
  const char* name = nullptr;                   ///< as in the schema
  ParameterType type = ParameterType::integer;  ///< as in the schema
  std::int32_t reserved = 0;                    ///< 0
  std::int64_t integer = 0;    ///< also of a boolean (0, 1) and a choice (its index)
  double number = 0;           ///< of a number
  const char* text = nullptr;  ///< reserved, null
};
static_assert(sizeof(ParameterValue) == 40);

/// One value per parameter of the schema, in the schema's order: defaults are filled in.
struct ParameterList {
  std::uint64_t struct_size = sizeof(ParameterList);  ///< size in its maker's headers
  const ParameterValue* values = nullptr;             ///< `count` entries
  std::int64_t count = 0;                             ///< parameters of the schema

  /// The value of an integer parameter. All of these throw StatusError for a name that the schema
  /// does not have.
  std::int64_t integer(std::string_view name) const { return find(name).integer; }
  /// The value of a number.
  double number(std::string_view name) const { return find(name).number; }
  /// The value of a boolean.
  bool boolean(std::string_view name) const { return find(name).integer != 0; }
  /// Index of the chosen word in the schema's `choices`.
  std::int64_t choice(std::string_view name) const { return find(name).integer; }

 private:
  const ParameterValue& find(std::string_view name) const {
    for (std::int64_t i = 0; i < count; ++i) {
      if (name == values[i].name) return values[i];
    }
    throw StatusError(
        StatusCode::internal,
        "the backend asked for a parameter that it did not declare: " + std::string(name));
  }
};
static_assert(sizeof(ParameterList) == 24);

}  // namespace lloyd
