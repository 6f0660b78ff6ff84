// Parameters of a backend: the schema that it declares, and the values that it receives.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <lloyd/plugin/abi/status.hpp>

namespace lloyd {

/// Type of a parameter's values.
enum class ParameterType : std::int32_t {
  integer = 0,  ///< 64-bit integer
  number = 1,   ///< float64
  boolean = 2,  ///< true or false
  choice = 3,   ///< one of several words
};

/// Schema of one parameter. Create it with integer_parameter(), number_parameter(),
/// boolean_parameter() or choice_parameter().
struct ParameterInfo {
  std::uint64_t struct_size = sizeof(ParameterInfo);  ///< sizeof on the allocating side
  const char* name = nullptr;                         ///< not empty, without white space or '='
  const char* meaning = nullptr;                      ///< one line of help: unit, meaning of 0
  ParameterType type = ParameterType::integer;        ///< selects the fields below that apply
  std::int32_t choice_count = 0;                      ///< number of `choices`
  std::int64_t integer_default = 0;      ///< of an integer, a boolean (0, 1), a choice (index)
  std::int64_t integer_minimum = 0;      ///< smallest accepted integer
  std::int64_t integer_maximum = 0;      ///< largest accepted integer
  double number_default = 0;             ///< of a number
  double number_minimum = 0;             ///< smallest accepted number
  double number_maximum = 0;             ///< largest accepted number
  const char* const* choices = nullptr;  ///< the words of a choice
};
static_assert(sizeof(ParameterInfo) == 88);

/// Schema of an integer in [minimum, maximum]; `fallback` is the default. Here and below, strings
/// must live as long as the plugin.
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

/// Schema of a float64 number in [minimum, maximum].
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

/// Schema of a boolean.
constexpr ParameterInfo boolean_parameter(const char* name, bool fallback, const char* meaning) {
  ParameterInfo info;
  info.name = name;
  info.meaning = meaning;
  info.type = ParameterType::boolean;
  info.integer_default = fallback ? 1 : 0;
  info.integer_maximum = 1;
  return info;
}

/// Schema of a choice between words; the first is the default. `choices` must live as long as the
/// plugin. The backend reads the index of the chosen word with ParameterList::choice().
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
/// The words of a temporary array would be gone when they are read.
template <std::int32_t Count>
ParameterInfo choice_parameter(const char* name, const char* const (&&choices)[Count],
                               const char* meaning) = delete;
ParameterInfo choice_parameter(const char* name, std::initializer_list<const char*> choices,
                               const char* meaning) = delete;

/// The value of one parameter, checked by the core against the schema.
struct ParameterValue {
  const char* name = nullptr;                   ///< as in the schema
  ParameterType type = ParameterType::integer;  ///< as in the schema
  std::int32_t reserved = 0;                    ///< 0
  std::int64_t integer = 0;    ///< of an integer, a boolean (0, 1) or a choice (index)
  double number = 0;           ///< of a number parameter
  const char* text = nullptr;  ///< reserved, null
};
static_assert(sizeof(ParameterValue) == 40);

/// The values of all parameters, in the order of the schema; defaults are filled in.
struct ParameterList {
  std::uint64_t struct_size = sizeof(ParameterList);  ///< sizeof on the allocating side
  const ParameterValue* values = nullptr;             ///< `count` entries
  std::int64_t count = 0;                             ///< parameters of the schema

  /// The value of an integer parameter. This and the functions below throw StatusError for a name
  /// that is not in the schema, and for a parameter of another type.
  std::int64_t integer(std::string_view name) const {
    return find(name, ParameterType::integer).integer;
  }
  /// The value of a number parameter.
  double number(std::string_view name) const { return find(name, ParameterType::number).number; }
  /// The value of a boolean parameter.
  bool boolean(std::string_view name) const {
    return find(name, ParameterType::boolean).integer != 0;
  }
  /// The index of the chosen word in ParameterInfo::choices.
  std::int64_t choice(std::string_view name) const {
    return find(name, ParameterType::choice).integer;
  }

 private:
  // The name of a type, which is also that of the function that reads it.
  static const char* name_of(ParameterType type) {
    switch (type) {
      case ParameterType::integer:
        return "integer";
      case ParameterType::number:
        return "number";
      case ParameterType::boolean:
        return "boolean";
      case ParameterType::choice:
        return "choice";
    }
    return "unknown";
  }

  const ParameterValue& find(std::string_view name, ParameterType type) const {
    for (std::int64_t i = 0; i < count; ++i) {
      if (name != values[i].name) continue;
      if (values[i].type == type) return values[i];
      fail_type(values[i], type);
    }
    fail_name(name);
  }

  [[noreturn]] void fail_name(std::string_view name) const {
    std::string declared;
    for (std::int64_t i = 0; i < count; ++i) {
      declared.append(i == 0 ? "" : ", ").append(values[i].name);
    }
    throw StatusError(StatusCode::internal,
                      "the backend reads the parameter '" + std::string(name) +
                          "', which its schema does not declare; it declares " +
                          (count == 0 ? "none" : declared));
  }

  [[noreturn]] static void fail_type(const ParameterValue& value, ParameterType type) {
    const std::string right = name_of(value.type);
    throw StatusError(StatusCode::internal,
                      "the backend reads the parameter '" + std::string(value.name) + "' with " +
                          name_of(type) + "(), but its schema declares it with " + right +
                          "_parameter(); read it with " + right + "()");
  }
};
static_assert(sizeof(ParameterList) == 24);

}  // namespace lloyd
