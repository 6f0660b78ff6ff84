// JsonFields: typed values out of a JSON object that somebody else may have written.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd::experiment {

/// The members of an object by key. Each function throws InputError, with the dotted path of the
/// key and what is there, when the key is missing or its value has another type or is out of range.
/// Other keys are passed over.
class JsonFields {
 public:
  /// `path` leads to the object; empty for the outermost one. `json` must outlive this object.
  explicit JsonFields(const nlohmann::ordered_json& json, std::string path = {});

  bool is_null(std::string_view key) const { return at(key).is_null(); }
  bool contains(std::string_view key) const { return json_.contains(key); }
  /// Whether the key is there and not null: records of earlier versions lack some.
  bool has(std::string_view key) const { return json_.contains(key) && !is_null(key); }
  JsonFields object(std::string_view key) const;
  const nlohmann::ordered_json& object_json(std::string_view key) const;
  std::string text(std::string_view key) const;
  /// Empty for null.
  std::string text_or_null(std::string_view key) const;
  /// Empty for null, and where the key is missing, as in records of earlier versions.
  std::string text_or_nothing(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  /// Empty where the key is missing.
  nlohmann::ordered_json list_or_nothing(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t minimum,
                       std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) const;
  std::uint64_t seed(std::string_view key) const;
  double number(std::string_view key, double minimum) const;
  /// NaN for null.
  double number_or_nan(std::string_view key, double minimum) const;
  /// NaN for null, and where the key is missing, as in records of earlier versions.
  double number_or_nothing(std::string_view key, double minimum) const;
  /// 16 hexadecimal digits.
  std::string hash(std::string_view key) const;
  /// A text that `parse` knows: it throws InputError for another one.
  template <class Parse>
  std::string name(std::string_view key, Parse&& parse) const;

  /// Throws InputError "'path.key' is ..., not `expected`".
  [[noreturn]] void fail(std::string_view key, std::string_view expected) const;

 private:
  const nlohmann::ordered_json& at(std::string_view key) const;
  std::string path(std::string_view key) const;

  const nlohmann::ordered_json& json_;
  std::string path_;
};

template <class Parse>
std::string JsonFields::name(std::string_view key, Parse&& parse) const {
  std::string result = text(key);
  parse(result);
  return result;
}

}  // namespace lloyd::experiment
