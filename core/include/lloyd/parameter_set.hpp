// ParameterSet: the parameter values of a backend, checked against its schema.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/plugin/abi/parameters.hpp>

namespace lloyd {

/// True for a number with leading zeros, such as 010 or -01.5. Some programs read 010 as 8, others
/// as 10, so such numbers are refused everywhere.
inline bool has_leading_zero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

/// The values of all parameters of one backend. Keeps pointers to the plugin's strings, which live
/// as long as the process.
class ParameterSet {
 public:
  /// Takes the defaults of a schema of `count` parameters.
  ParameterSet(const ParameterInfo* schema, std::int64_t count);

  /// Sets one parameter from text, as in YAML or on the command line: "4", "0.5", "true", "soa".
  /// Throws InputError for an unknown name (with the most similar one) and for a value of a wrong
  /// type or out of range (with the accepted values).
  void set(std::string_view name, std::string_view text);

  /// The value of a parameter in the form that set() reads.
  std::string text(std::string_view name) const;
  /// The parameters that differ from their defaults, in schema order: "threads=2 chunk=0".
  std::string describe_changes() const;
  /// All values as text, by name.
  std::map<std::string, std::string> texts() const;

  /// The backend's schema.
  const std::vector<ParameterInfo>& schema() const { return schema_; }
  /// The values for the plugin boundary; valid until this set is changed or destroyed.
  ParameterList list() const;

 private:
  std::size_t index(std::string_view name) const;
  std::string text(std::size_t index) const;

  std::vector<ParameterInfo> schema_;
  std::vector<ParameterValue> values_;
};

}  // namespace lloyd
