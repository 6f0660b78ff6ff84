// JsonFields: typed access to a JSON object from an untrusted source.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd {

/// Reads the members of an object by key. Each function throws InputError, with the dotted path of
/// the key and the value found, if the key is missing or its value has another type or is out of
/// range. Unknown keys are ignored.
class JsonFields {
 public:
  /// `path`: dotted path of the object, for messages; empty for the outermost one. `json` must
  /// outlive this object.
  explicit JsonFields(const nlohmann::ordered_json& json, std::string path = {});

  bool is_null(std::string_view key) const { return at(key).is_null(); }
  bool contains(std::string_view key) const { return json_.contains(key); }
  /// True if the key exists and is not null. Records of earlier versions lack some keys.
  bool has(std::string_view key) const { return json_.contains(key) && !is_null(key); }
  JsonFields object(std::string_view key) const;
  const nlohmann::ordered_json& object_json(std::string_view key) const;
  std::string text(std::string_view key) const;
  /// Empty for null.
  std::string text_or_null(std::string_view key) const;
  /// Empty for null and for a missing key, as in records of earlier versions.
  std::string text_or_nothing(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  /// Empty if the key is missing.
  nlohmann::ordered_json list_or_nothing(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t minimum,
                       std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) const;
  std::uint64_t seed(std::string_view key) const;
  double number(std::string_view key, double minimum) const;
  /// NaN for null.
  double number_or_nan(std::string_view key, double minimum) const;
  /// NaN for null and for a missing key, as in records of earlier versions.
  double number_or_nothing(std::string_view key, double minimum) const;
  /// 16 hexadecimal digits.
  std::string hash(std::string_view key) const;
  /// A text that `parse` accepts; `parse` throws InputError otherwise.
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

}  // namespace lloyd
