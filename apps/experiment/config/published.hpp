// Published: what a paper states of a setting, to stand beside what is measured here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd::experiment {

/// A quantity that the summary has and that can be published; the unit is part of the name.
struct Quantity {
  const char* name;    ///< in files: "ms_per_iteration"
  const char* header;  ///< in tables: "ms/iteration"
  bool profiled;       ///< shown with `profile` only
};

const std::vector<Quantity>& quantities();
/// Throws InputError for an unknown name.
const Quantity& find_quantity(std::string_view name);

struct Published {
  std::string quantity;          ///< a Quantity's name; may be empty where there is but a note
  std::optional<double> number;  ///< the value, or
  std::string text;              ///< what the paper says in words; both empty: there is but a note
  std::string source;
  std::string note;  ///< may be empty

  bool has_value() const { return number || !text.empty(); }
  bool operator==(const Published&) const = default;
};

nlohmann::ordered_json to_json(const Published& published);
/// Throws InputError for a key that is missing or whose value has another type.
Published published_from_json(const nlohmann::ordered_json& json);

}  // namespace lloyd::experiment
