#include "experiment/config/overrides.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "experiment/config/isolation.hpp"
#include "experiment/config/setting.hpp"
#include "experiment/launch/launch.hpp"
#include "experiment/yaml/config_text.hpp"
#include "text/synonyms.hpp"

namespace lloyd::experiment {
namespace {

// Throws InputError if the text cannot be a key. `option`: "--set" or "--sweep".
void check_key_text(const std::string& option, const std::string& key) {
  const auto fail = [&](const char* reason) {
    throw InputError(fmt::format("{}: the key '{}' {}; keys are such as dataset.blobs.samples",
                                 option, excerpt(key), reason));
  };
  if (key.find_first_of("[]{}") != std::string::npos) {
    fail("has brackets, but parts are divided by dots");
  }
  if (key.find_first_of(" \t\n\r") != std::string::npos) fail("has a blank, tab or line break");
  if (key.starts_with('.') || key.ends_with('.') || key.find("..") != std::string::npos) {
    fail("has an empty part");
  }
}

void check_key(const std::string& key, const ConfigNode& value) {
  std::vector<std::string> known = setting_keys();
  known.insert(known.end(), {"backends", "baseline", "trace", "checks", "silhouette", "counters",
                             "repeat_throttled"});
  known.insert(known.end(), isolation_keys().begin(), isolation_keys().end());
  known.insert(known.end(), launch_keys().begin(), launch_keys().end());
  const std::string root = key.substr(0, key.find('.'));
  if (root == "backends" && key != root) {
    value.fail(
        "'backends' is a list that is set as a whole, as in 'backends=[openmp: {threads: 2}]'");
  }
  if (std::find(known.begin(), known.end(), root) == known.end()) {
    if (root == "sweep") {
      value.fail("'sweep' cannot be set; --sweep KEY=LIST adds an axis or replaces its values");
    }
    if (root == "repeats" || root == "output") {
      value.fail(fmt::format("'{0}' cannot be set; the option --{0} does it", root));
    }
    const std::string synonym = apps::key_for(root);
    const std::string nearest = synonym.empty() ? nearest_name(root, known) : synonym;
    value.fail(nearest.empty()
                   ? fmt::format("'{}' cannot be set (can be: {})", root, fmt::join(known, ", "))
                   : fmt::format("'{}' cannot be set (did you mean '{}'?)", root, nearest));
  }
  if (std::count(key.begin(), key.end(), '.') >= kMaxPathParts) {
    value.fail(fmt::format("the key has more than {} parts", kMaxPathParts));
  }
}

// The child of a map with this key; children.end() if there is none.
std::vector<ConfigNode>::iterator find_child(ConfigNode& map, const std::string& key) {
  return std::find_if(map.children.begin(), map.children.end(),
                      [&](const ConfigNode& child) { return child.key == key; });
}

// Removes a key and its axis, so that the default holds. `value`: the null value that was given,
// for the place in messages.
void remove_key(ConfigNode& document, const std::string& key, const ConfigNode& value) {
  bool removed = false;
  const auto sweep = find_child(document, "sweep");
  if (sweep != document.children.end()) {
    const auto axis = find_child(*sweep, key);
    removed = axis != sweep->children.end();
    if (removed) sweep->children.erase(axis);
    if (sweep->children.empty()) document.children.erase(sweep);
  }
  ConfigNode* map = &document;
  std::size_t begin = 0;
  for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', begin)) {
    const auto found = find_child(*map, key.substr(begin, dot - begin));
    if (found == map->children.end()) break;
    map = &*found;
    begin = dot + 1;
  }
  const auto found = find_child(*map, key.substr(begin));
  if (found != map->children.end()) {
    map->children.erase(found);
    removed = true;
  }
  if (!removed) {
    value.fail(fmt::format("'{}' has no value, and the file has no such key to remove", key));
  }
}

// True for a list of numbers without brackets, "8,16".
bool lacks_brackets(const ConfigNode& value) {
  const std::string& text = value.text;
  return value.is_scalar() && text.find(',') != std::string::npos &&
         text.find_first_not_of("0123456789.eE+-, ") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos;
}

// Replaces the values of the axis with this key; returns false if there is none.
bool set_axis(ConfigNode& document, const std::string& key, const ConfigNode& value) {
  for (ConfigNode& sweep : document.children) {
    if (sweep.key != "sweep") continue;
    const auto same = std::find_if(sweep.children.begin(), sweep.children.end(),
                                   [&](const ConfigNode& axis) { return axis.key == key; });
    if (same != sweep.children.end()) {
      same->kind = ConfigNode::Kind::sequence;
      same->place = value.place;
      same->children = value.is_sequence() ? value.children : std::vector<ConfigNode>{value};
      return true;
    }
  }
  return false;
}

// Adds an axis below the others. `values` is a list.
void add_axis(ConfigNode& document, const std::string& key, const ConfigNode& values) {
  auto sweep = std::find_if(document.children.begin(), document.children.end(),
                            [](const ConfigNode& child) { return child.key == "sweep"; });
  if (sweep == document.children.end()) {
    ConfigNode made;
    made.kind = ConfigNode::Kind::map;
    made.key = "sweep";
    made.place = made.key_place = values.place;
    sweep = document.children.insert(sweep, std::move(made));
  }
  ConfigNode axis = values;
  axis.key = key;
  axis.key_place = values.place;
  sweep->children.push_back(std::move(axis));
}

bool is_setting_key(const std::string& key) {
  const std::vector<std::string>& keys = setting_keys();
  return std::find(keys.begin(), keys.end(), key.substr(0, key.find('.'))) != keys.end();
}

struct KeyValue {
  std::string key;
  ConfigNode value;
};

KeyValue parse_key_value(const std::string& option, const char* example, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw InputError(fmt::format("{} takes {}, not '{}'", option, example, excerpt(text)));
  }
  std::string key = text.substr(0, equals);
  check_key_text(option, key);
  ConfigNode value =
      parse_config(text.substr(equals + 1), fmt::format("{} {}", option, excerpt(key)));
  return {std::move(key), std::move(value)};
}

// Refuses a key of --set that an axis would overwrite.
void check_against_axis(const ConfigNode& axis, const KeyValue& set) {
  const auto& [key, value] = set;
  if (key.starts_with(axis.key + ".")) {
    const bool takes_keys = axis.key == "seeding" ||
                            std::any_of(axis.children.begin(), axis.children.end(),
                                        [](const ConfigNode& entry) { return entry.is_map(); });
    value.fail(fmt::format(
        "the axis '{}' would overwrite '{}'{}", axis.key, key,
        takes_keys ? fmt::format("; --sweep '{}={}' sets it for every value of that axis", key,
                                 value.is_sequence() ? value.describe()
                                                     : fmt::format("[{}]", value.describe()))
                   : ""));
  }
  if (axis.key.starts_with(key + ".") && sets_path(key, value, axis.key)) {
    value.fail(
        fmt::format("the axis '{0}' would overwrite the value of '{0}' in this map; leave it out "
                    "here, or replace the axis: --set {0}=VALUE",
                    axis.key));
  }
}

// Refuses a file that is set for a data set of blobs: beside them, or below an axis of their keys.
void check_file_for_blobs(const ConfigNode& document, const std::vector<ConfigNode>& axes,
                          const KeyValue& set) {
  const bool is_dataset = set.key == "dataset" && set.value.is_map() &&
                          set.value.find("file") != nullptr && set.value.find("blobs") == nullptr;
  if (!is_dataset && set.key != "dataset.file") return;
  std::vector<std::string> names;
  std::string removal;
  for (const ConfigNode& axis : axes) {
    if (axis.key != "dataset.blobs" && !axis.key.starts_with("dataset.blobs.")) continue;
    names.push_back(fmt::format("'{}'", axis.key));
    removal += fmt::format(" --set {}=", axis.key);
  }
  const ConfigNode* const dataset = document.find("dataset");
  const bool has_blobs = dataset != nullptr && dataset->find("blobs") != nullptr;
  if (names.empty() && !has_blobs) return;
  const std::string axis_names =
      fmt::format("the ax{} {}", names.size() == 1 ? "is" : "es", enumerated(names, "and"));
  if (!has_blobs) {
    set.value.fail(fmt::format("{} need{} 'dataset.blobs', but the data set is a file; add{}",
                               axis_names, names.size() == 1 ? "s" : "", removal));
  }
  if (is_dataset) return;
  set.value.fail(
      fmt::format("'dataset.file' cannot be set beside 'dataset.blobs'{}{}; replace the "
                  "data set: --set 'dataset={{file: {}}}'{}",
                  names.empty() ? "" : " and ", names.empty() ? "" : axis_names,
                  set.value.is_scalar() ? excerpt(set.value.text) : "FILE", removal));
}

// Refuses keys of --set that have no effect because an axis or a later --set overwrites them.
// `document` has all overrides. The order of axes is checked when they are read.
void check_effects(const ConfigNode& document, const std::vector<KeyValue>& set) {
  std::vector<ConfigNode> axes;
  if (const ConfigNode* sweep = document.find("sweep")) axes = sweep->children;
  for (auto given = set.begin(); given != set.end(); ++given) {
    if (given->value.is_null()) continue;
    const bool is_axis = std::any_of(
        axes.begin(), axes.end(), [&](const ConfigNode& axis) { return axis.key == given->key; });
    if (!is_axis) {
      check_file_for_blobs(document, axes, *given);
      for (const ConfigNode& axis : axes) check_against_axis(axis, *given);
    }
    for (auto later = given + 1; later != set.end(); ++later) {
      if (is_axis || !given->key.starts_with(later->key + ".")) continue;
      later->value.fail(
          fmt::format("'{}' would overwrite '{}', which is set before it; give "
                      "'{}' first",
                      later->key, given->key, later->key));
    }
  }
}

// True for a key of a setting whose values are lists.
bool is_list_key(const std::string& key) {
  return key == "dataset.columns" || key == "dataset.drop_columns" || key == "dataset.missing";
}

void apply_set(ConfigNode& document, const KeyValue& set) {
  const auto& [key, value] = set;
  check_key(key, value);
  expand_seeding(document);
  if (value.is_null()) {
    remove_key(document, key, value);
    return;
  }
  if (is_setting_key(key) && lacks_brackets(value)) {
    value.fail(fmt::format("'{0}' is '{1}'; a list is written in brackets: {0}=[{1}]", key,
                           excerpt(value.text)));
  }
  if (set_axis(document, key, value)) return;
  if (value.is_sequence() && is_setting_key(key) && !is_list_key(key)) {
    add_axis(document, key, value);
  } else {
    set_path(document, key, value);
  }
}

void apply_sweep(ConfigNode& document, const std::string& text) {
  const auto [key, value] = parse_key_value("--sweep", "KEY=LIST, such as clusters=[8, 16]", text);
  if (!value.is_sequence()) {
    value.fail(
        fmt::format("the axis '{}' must be a list of values, such as {}, not {}", key,
                    lacks_brackets(value) ? fmt::format("[{}]", excerpt(value.text)) : "[8, 16]",
                    value.kind_text()));
  }
  expand_seeding(document);
  if (!set_axis(document, key, value)) add_axis(document, key, value);
}

}  // namespace

void apply_overrides(ConfigNode& document, const Overrides& overrides) {
  std::vector<KeyValue> set;
  for (const std::string& text : overrides.set) {
    set.push_back(parse_key_value("--set", "KEY=VALUE, such as clusters=8", text));
    apply_set(document, set.back());
  }
  for (const std::string& text : overrides.sweep) apply_sweep(document, text);
  check_effects(document, set);
}

}  // namespace lloyd::experiment
