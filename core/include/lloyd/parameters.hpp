// Typed parameter values of a backend, checked against the schema it declares.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/plugin/parameters.hpp>

namespace lloyd {

/// Whether a number is written with leading zeros, as 010 or -01.5: that is 8 to some programs and
/// 10 to others, so that it is not read at all.
inline bool has_leading_zero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

/// A full set of values for one backend: one per parameter of its schema. Keeps pointers into the
/// plugin's own texts, which live forever.
class ParameterSet {
 public:
  /// The defaults of a schema.
  ParameterSet(const ParameterInfo* schema, std::int64_t count);

  /// Sets one parameter from text, as written in YAML or on a command line: "4", "0.5", "true",
  /// "soa". Throws InputError for an unknown name (with the nearest one) or a value of wrong type
  /// or out of range (with what would be right).
  void set(std::string_view name, std::string_view text);

  /// The value as text, as set() reads it.
  std::string text(std::string_view name) const;
  /// "threads=2 chunk=0": the parameters that differ from their defaults, in schema order.
  std::string describe_changes() const;
  /// All values by name.
  std::map<std::string, std::string> texts() const;

  /// What the backend declares, in its order.
  const std::vector<ParameterInfo>& schema() const { return schema_; }
  /// For the boundary; valid as long as this set and until it is changed.
  ParameterList list() const;

 private:
  std::size_t index(std::string_view name) const;
  std::string text(std::size_t index) const;

  std::vector<ParameterInfo> schema_;
  std::vector<ParameterValue> values_;
};

}  // namespace lloyd
