#include "experiment/config/reference.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "experiment/config/variants.hpp"
#include "experiment/yaml/config_values.hpp"

namespace lloyd::experiment {
namespace {

constexpr const char* kSpeedup = "speedup";
constexpr std::size_t kMaxReferences = 1000;

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
  std::string name = read_text(node, "reference.quantity");
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

// A plain number, or the paper's statement as a quoted text.
void read_value(const ConfigNode& node, Published& published) {
  if (node.is_scalar() && node.quoted) {
    published.text = read_text(node, "reference.values.value");
  } else {
    published.number = read_number(node, "reference.values.value", 0);
  }
}

// The values of each axis, by path.
using KnownValues = std::map<std::string, std::set<std::string>>;

KnownValues known_values(const ReferenceScope& scope) {
  KnownValues known;
  for (const ConfigNode& axis : scope.axes) {
    for (const ConfigNode& value : axis.children) known[axis.key].insert(value.describe());
  }
  return known;
}

ReferenceEntry read_entry(const ConfigNode& node, const ReferenceScope& scope,
                          const KnownValues& known_values, const Published& table) {
  std::vector<std::string> keys = {"value"};
  for (const ConfigNode& axis : scope.axes) keys.push_back(axis.key);
  const MapReader map(node, "reference.values", keys);
  ReferenceEntry entry{{}, table, node.place};
  read_value(map.require("value"), entry.published);
  for (const ConfigNode& axis : scope.axes) {
    const ConfigNode* given = map.find(axis.key);
    if (given == nullptr) continue;
    if (!known_values.at(axis.key).contains(given->describe())) {
      std::vector<std::string> known;
      for (const ConfigNode& value : axis.children) known.push_back(value.describe());
      given->fail(fmt::format("the axis '{}' has no value {} (has: {})", axis.key,
                              given->describe(), fmt::join(known, ", ")));
    }
    entry.axes.push_back({axis.key, given->describe()});
  }
  return entry;
}

Reference read_reference(const ConfigNode& node, const ReferenceScope& scope,
                         const KnownValues& known) {
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
    reference.entries.push_back(read_entry(value, scope, known, table));
  }
  return reference;
}

// Concatenates the values of an entry or a setting on these axes; none if it lacks an axis.
std::optional<std::string> values_on(const std::vector<AxisValue>& axes,
                                     const std::vector<std::string>& paths) {
  std::string key;
  for (const std::string& path : paths) {
    const auto found = std::find_if(axes.begin(), axes.end(),
                                    [&](const AxisValue& axis) { return axis.path == path; });
    if (found == axes.end()) return std::nullopt;
    key += fmt::format("{}:{}", found->value.size(), found->value);
  }
  return key;
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
  const KnownValues known = known_values(scope);
  if (node.is_map()) return {read_reference(node, scope, known)};
  if (!node.is_sequence() || node.children.empty()) {
    node.fail(fmt::format("'reference' must be a map or a list of maps, not {}",
                          node.is_sequence() ? "an empty one" : node.kind_text()));
  }
  if (node.children.size() > kMaxReferences) {
    node.fail(fmt::format("'reference' has {} tables; at most {} are allowed", node.children.size(),
                          kMaxReferences));
  }
  std::vector<Reference> references;
  for (const ConfigNode& child : node.children) {
    references.push_back(read_reference(child, scope, known));
  }
  return references;
}

ReferenceIndex::ReferenceIndex(const std::vector<Reference>& references) {
  for (const Reference& reference : references) {
    Indexed& indexed = references_.emplace_back(Indexed{&reference, {}});
    std::map<std::vector<std::string>, std::size_t> groups;
    for (const ReferenceEntry& entry : reference.entries) {
      std::vector<std::string> paths;
      for (const AxisValue& axis : entry.axes) paths.push_back(axis.path);
      const auto [group, is_new] = groups.emplace(paths, indexed.groups.size());
      if (is_new) indexed.groups.push_back({paths, {}});
      indexed.groups[group->second].by_values[*values_on(entry.axes, paths)].push_back(&entry);
    }
  }
}

std::vector<Published> ReferenceIndex::published_of(const Setting& setting, const Variant& variant,
                                                    bool is_baseline) const {
  std::vector<Published> result;
  std::map<std::string, int> lines;  // line of the value found so far, by quantity
  for (const Indexed& indexed : references_) {
    const Reference& reference = *indexed.reference;
    if (reference.backend && !is_of(*reference.backend, variant)) continue;
    std::vector<const ReferenceEntry*> entries;
    for (const Entries& group : indexed.groups) {
      const std::optional<std::string> values = values_on(setting.axes, group.paths);
      const auto found = values ? group.by_values.find(*values) : group.by_values.end();
      if (found == group.by_values.end()) continue;
      entries.insert(entries.end(), found->second.begin(), found->second.end());
    }
    std::sort(entries.begin(), entries.end());  // file order: all entries are in one vector
    for (const ReferenceEntry* entry : entries) {
      const Published& published = entry->published;
      if (!reference.backend && is_baseline && published.quantity == kSpeedup) continue;
      if (published.has_value()) {
        const auto [first, is_new] = lines.emplace(published.quantity, entry->place.line);
        if (!is_new) {
          entry->place.fail(
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
