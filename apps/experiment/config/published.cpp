#include "experiment/config/published.hpp"

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/json_fields.hpp>
#include <lloyd/internal/suggestion.hpp>

namespace lloyd::experiment {

using nlohmann::ordered_json;

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> known = {{"speedup", "speedup", false},
                                              {"ms_per_iteration", "ms/iteration", false},
                                              {"ms_per_fit", "ms/fit", false},
                                              {"transfer_ms_per_iteration", "transfer", true},
                                              {"assignment_ms_per_iteration", "assignment", true},
                                              {"update_ms_per_iteration", "update", true},
                                              {"overhead_ms", "overhead", true},
                                              {"gflop_per_s", "GFLOP/s", true},
                                              {"gb_per_s", "GB/s", true}};
  return known;
}

const Quantity& find_quantity(std::string_view name) {
  std::vector<std::string> names;
  for (const Quantity& quantity : quantities()) {
    if (quantity.name == name) return quantity;
    names.emplace_back(quantity.name);
  }
  throw InputError(fmt::format("unknown quantity '{}'{}", name, suggestion(name, names)));
}

ordered_json to_json(const Published& published) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
  };
  return {
      {"quantity", text_or_null(published.quantity)},
      {"value", published.number ? ordered_json(*published.number) : text_or_null(published.text)},
      {"source", published.source},
      {"note", text_or_null(published.note)}};
}

Published published_from_json(const ordered_json& object) {
  const JsonFields json(object, "published");
  Published published;
  if (!json.is_null("quantity")) published.quantity = json.name("quantity", find_quantity);
  if (!json.is_null("value")) {
    if (object.at("value").is_string()) {
      published.text = json.text("value");
    } else {
      published.number = json.number("value", 0);
    }
  }
  published.source = json.text("source");
  published.note = json.text_or_null("note");
  return published;
}

}  // namespace lloyd::experiment
