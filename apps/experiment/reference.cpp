#include "experiment/reference.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>
#include <lloyd/suggestion.hpp>

#include "experiment/config_values.hpp"
#include "experiment/variants.hpp"

namespace lloyd::experiment {
namespace {

constexpr const char* kSpeedup = "speedup";

bool asks_for(const BackendRequest& request, const BackendRequest& wanted) {
  return request.name == wanted.name &&
         std::all_of(wanted.parameters.begin(), wanted.parameters.end(),
                     [&](const ParameterRequest& parameter) {
                       const ParameterRequest* asked = request.find(parameter.name);
                       return asked != nullptr &&
                              std::any_of(asked->values.begin(), asked->values.end(),
                                          [&](const ConfigNode& value) {
                                            return value.text == parameter.values.front().text;
                                          });
                     });
}

BackendRequest read_reference_backend(const ConfigNode& node, const ReferenceScope& scope) {
  BackendRequest wanted = read_backend(node, "reference.backend", false);
  std::set<std::string> names;
  for (const BackendRequest& request : scope.backends) {
    if (asks_for(request, wanted)) return wanted;
    names.insert(request.name);
  }
  if (!names.contains(wanted.name)) {
    wanted.place.fail(fmt::format("the reference's backend '{}' is not among the backends{}",
                                  wanted.name,
                                  suggestion(wanted.name, {names.begin(), names.end()})));
  }
  wanted.place.fail(fmt::format("'backends' has no {}", node.describe()));
}

std::string read_quantity(const ConfigNode& node, const ReferenceScope& scope) {
  const std::string name = read_text(node, "reference.quantity");
  const Quantity* quantity = nullptr;
  try {
    quantity = &find_quantity(name);
  } catch (const InputError& error) {
    node.fail(error.what());
  }
  if (quantity->profiled && !scope.profile) {
    node.fail(fmt::format("the summary has '{}' with 'profile: true' only", name));
  }
  if (name == kSpeedup && !scope.baseline) {
    node.fail("the summary has a speedup with a 'baseline' only");
  }
  return name;
}

// A plain number, or in quotes what the paper says in words.
void read_value(const ConfigNode& node, Published& published) {
  if (node.is_scalar() && node.quoted) {
    published.text = read_text(node, "reference.values.value");
  } else {
    published.number = read_number(node, "reference.values.value", 0);
  }
}

ReferenceEntry read_entry(const ConfigNode& node, const ReferenceScope& scope,
                          const Published& table) {
  std::vector<std::string> keys = {"value"};
  for (const ConfigNode& axis : scope.axes) keys.push_back(axis.key);
  const MapReader map(node, "reference.values", keys);
  ReferenceEntry entry{{}, table, node.place};
  read_value(map.require("value"), entry.published);
  for (const ConfigNode& axis : scope.axes) {
    const ConfigNode* given = map.find(axis.key);
    if (given == nullptr) continue;
    std::vector<std::string> known;
    for (const ConfigNode& value : axis.children) known.push_back(value.describe());
    if (std::find(known.begin(), known.end(), given->describe()) == known.end()) {
      given->fail(fmt::format("the axis '{}' has no value {} (has: {})", axis.key,
                              given->describe(), fmt::join(known, ", ")));
    }
    entry.axes.push_back({axis.key, given->describe()});
  }
  return entry;
}

Reference read_reference(const ConfigNode& node, const ReferenceScope& scope) {
  const MapReader map(node, "reference", {"source", "quantity", "backend", "note", "values"});
  Reference reference;
  Published table;
  table.source = read_text(map.require("source"), "reference.source");
  if (const ConfigNode* note = map.find("note")) table.note = read_text(*note, "reference.note");
  if (const ConfigNode* backend = map.find("backend")) {
    reference.backend = read_reference_backend(*backend, scope);
  }
  if (const ConfigNode* quantity = map.find("quantity")) {
    table.quantity = read_quantity(*quantity, scope);
  }
  const ConfigNode* values = map.find("values");
  if (values == nullptr) {
    if (table.note.empty()) node.fail("'reference' needs 'values', or a 'note'");
    reference.entries.push_back({{}, table, node.place});
    return reference;
  }
  map.require("quantity");
  if (!values->is_sequence() || values->children.empty()) {
    values->fail(fmt::format("'reference.values' must be a list of maps, not {}",
                             values->is_sequence() ? "an empty one" : values->kind_text()));
  }
  for (const ConfigNode& value : values->children) {
    reference.entries.push_back(read_entry(value, scope, table));
  }
  return reference;
}

bool is_of(const ReferenceEntry& entry, const Setting& setting) {
  return std::all_of(entry.axes.begin(), entry.axes.end(), [&](const AxisValue& wanted) {
    return std::any_of(setting.axes.begin(), setting.axes.end(), [&](const AxisValue& axis) {
      return axis.path == wanted.path && axis.value == wanted.value;
    });
  });
}

bool is_of(const BackendRequest& wanted, const Variant& variant) {
  return wanted.name == variant.name &&
         std::all_of(wanted.parameters.begin(), wanted.parameters.end(),
                     [&](const ParameterRequest& parameter) {
                       const auto given = variant.given.find(parameter.name);
                       return given != variant.given.end() &&
                              given->second == parameter.values.front().text;
                     });
}

}  // namespace

std::vector<Reference> read_references(const ConfigNode& node, const ReferenceScope& scope) {
  if (node.is_map()) return {read_reference(node, scope)};
  if (!node.is_sequence() || node.children.empty()) {
    node.fail(fmt::format("'reference' must be a map or a list of maps, not {}",
                          node.is_sequence() ? "an empty one" : node.kind_text()));
  }
  std::vector<Reference> references;
  for (const ConfigNode& child : node.children) references.push_back(read_reference(child, scope));
  return references;
}

std::vector<Published> published_of(const std::vector<Reference>& references,
                                    const Setting& setting, const Variant& variant,
                                    bool is_baseline) {
  std::vector<Published> result;
  std::map<std::string, int> lines;  // of the values so far, by quantity
  for (const Reference& reference : references) {
    if (reference.backend && !is_of(*reference.backend, variant)) continue;
    for (const ReferenceEntry& entry : reference.entries) {
      const Published& published = entry.published;
      if (!is_of(entry, setting)) continue;
      if (!reference.backend && is_baseline && published.quantity == kSpeedup) continue;
      if (published.has_value()) {
        const auto [first, is_new] = lines.emplace(published.quantity, entry.place.line);
        if (!is_new) {
          entry.place.fail(
              fmt::format("this gives {} a second published {}, the first is at line "
                          "{}",
                          variant.label, published.quantity, first->second));
        }
      }
      result.push_back(published);
    }
  }
  return result;
}

}  // namespace lloyd::experiment
