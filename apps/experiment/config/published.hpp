// Published: values that a paper reports for a setting, shown beside the measured ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd::experiment {

/// A quantity that the summary shows and that can be published; the name includes the unit.
struct Quantity {
  const char* name;    ///< in files: "ms_per_iteration"
  const char* header;  ///< in tables: "ms/iteration"
  bool profiled;       ///< shown only with `profile`
};

/// Returns all known quantities; columns of published values follow this order.
const std::vector<Quantity>& quantities();
/// Throws InputError for an unknown name.
const Quantity& find_quantity(std::string_view name);

/// A published value, or a note without a value, and its source.
struct Published {
  std::string quantity;          ///< a Quantity's name; may be empty if there is only a note
  std::optional<double> number;  ///< the value, if it is a number
  std::string text;  ///< the paper's statement in words; empty if there is a number or only a note
  std::string source;
  std::string note;  ///< may be empty

  bool has_value() const { return number || !text.empty(); }
  bool operator==(const Published&) const = default;
};

nlohmann::ordered_json to_json(const Published& published);
/// Throws InputError for a missing key or a value of the wrong type.
Published published_from_json(const nlohmann::ordered_json& json);

}  // namespace lloyd::experiment
