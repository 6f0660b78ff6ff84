#include "experiment/config/config.hpp"

#include <limits.h>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/suggestion.hpp>
#include <lloyd/parameter_set.hpp>

#include "experiment/yaml/config_values.hpp"
#include "external/description.hpp"
#include "text/file_kind.hpp"
#include "text/synonyms.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::size_t kMaxSettings = 10'000;
constexpr std::size_t kMaxAxes = 64;  // more than there are keys

void check_axis(const ConfigNode& axis, const std::vector<std::string>& document_keys) {
  if (std::count(axis.key.begin(), axis.key.end(), '.') >= kMaxPathParts) {
    axis.fail_at_key(fmt::format("the path of an axis has more than {} parts", kMaxPathParts));
  }
  const std::string root = axis.key.substr(0, axis.key.find('.'));
  const std::vector<std::string>& keys = setting_keys();
  if (std::find(keys.begin(), keys.end(), root) == keys.end()) {
    if (root == "backends") {
      axis.fail_at_key(
          "'backends' cannot be swept; give a backend's parameter a list of values instead");
    }
    std::string meant = apps::key_for(root);
    if (meant.starts_with("backends: ")) {
      axis.fail_at_key(fmt::format(
          "'{}' cannot be swept; give a backend's parameter a list of values instead: '{}'",
          shown(axis.key), "backends: [openmp: {threads: [1, 2]}]"));
    }
    if (meant == "dataset.blobs.samples") meant += "', or of a file 'dataset.samples";
    if (std::find(keys.begin(), keys.end(), meant.substr(0, meant.find('.'))) == keys.end()) {
      meant.clear();  // a key that cannot be swept
    }
    const bool known =
        std::find(document_keys.begin(), document_keys.end(), root) != document_keys.end();
    axis.fail_at_key(
        known ? fmt::format("'{}' cannot be swept (can be: {})", root, fmt::join(keys, ", "))
              : fmt::format("unknown key '{}' in 'sweep'{}", axis.key,
                            meant.empty() ? suggestion(root, keys)
                                          : fmt::format(" (did you mean '{}'?)", meant)));
  }
  if (!axis.is_sequence() || axis.children.empty()) {
    axis.fail(fmt::format("the axis '{}' must be a list of values, not {}", axis.key,
                          axis.is_sequence() ? "an empty one" : axis.kind_text()));
  }
  std::set<std::string> seen;
  for (const ConfigNode& value : axis.children) {
    if (value.is_null()) value.fail(fmt::format("a value of the axis '{}' is empty", axis.key));
    if (!seen.insert(value.describe()).second) {
      value.fail(fmt::format("the axis '{}' has the value {} twice", axis.key, value.describe()));
    }
  }
}

// Rejects an axis that would silently overwrite values set by an earlier one.
void check_order(const ConfigNode& earlier, const ConfigNode& axis) {
  if (earlier.key.starts_with(axis.key + ".")) {
    axis.fail_at_key(
        fmt::format("the axis '{}' would overwrite the axis '{}' above it", axis.key, earlier.key));
  }
  if (!axis.key.starts_with(earlier.key + ".")) return;
  for (const ConfigNode& value : earlier.children) {
    if (!sets_path(earlier.key, value, axis.key)) continue;
    axis.fail_at_key(fmt::format("the axis '{}' would overwrite what the axis '{}' above it sets",
                                 axis.key, earlier.key));
  }
}

std::vector<ConfigNode> read_axes(const ConfigNode& sweep,
                                  const std::vector<std::string>& document_keys) {
  if (!sweep.is_map()) {
    sweep.fail(fmt::format("'sweep' must be a map from keys to lists of values, not {}",
                           sweep.kind_text()));
  }
  if (sweep.children.size() > kMaxAxes) {
    sweep.children[kMaxAxes].fail_at_key(fmt::format("'sweep' has {} axes; at most {} are allowed",
                                                     sweep.children.size(), kMaxAxes));
  }
  std::size_t product = 1;
  for (const ConfigNode& axis : sweep.children) {
    check_axis(axis, document_keys);
    for (const ConfigNode& earlier : sweep.children) {
      if (&earlier == &axis) break;
      check_order(earlier, axis);
    }
    product *= axis.children.size();
    if (product > kMaxSettings) {
      axis.fail_at_key(
          fmt::format("the product of the axes has more than {} settings", kMaxSettings));
    }
  }
  return sweep.children;
}

// Equal for equal settings, however they were written.
std::string identity(const Setting& setting) {
  const FitOptions& options = setting.options;
  return fmt::format("{} {} {} {} {} {} {:?} {} {} {} {} {} {} {}", setting.dataset.key(),
                     options.clusters, static_cast<int>(options.seeding.method),
                     options.seeding.seed, options.seeding.oversampling, options.seeding.rounds,
                     options.seeding.file, options.restarts, options.max_iterations,
                     options.fixed_iterations, options.tolerance,
                     static_cast<int>(options.empty_clusters), options.profile, setting.cold_l2);
}

// `at` and `earlier` are the axis positions of two equal settings.
[[noreturn]] void fail_same(const std::vector<ConfigNode>& axes, const std::vector<std::size_t>& at,
                            const std::vector<std::size_t>& earlier) {
  std::size_t a = 0;
  while (at[a] == earlier[a]) ++a;
  const ConfigNode& value = axes[a].children[at[a]];
  value.fail(fmt::format("the axis '{}' gives the same setting with {} as with {}", axes[a].key,
                         value.describe(), axes[a].children[earlier[a]].describe()));
}

// Expands the product of the axes; the last one varies fastest.
std::vector<Setting> expand(const ConfigNode& document, const std::vector<ConfigNode>& axes,
                            const std::filesystem::path& folder) {
  // Copied for each setting, so large keys that define no setting, such as references, are removed.
  ConfigNode common = document;
  const std::vector<std::string>& keys = setting_keys();
  std::erase_if(common.children, [&](const ConfigNode& child) {
    return std::find(keys.begin(), keys.end(), child.key) == keys.end();
  });
  std::vector<std::size_t> at(axes.size(), 0);
  std::vector<Setting> settings;
  std::map<std::string, std::vector<std::size_t>> seen;
  while (true) {
    ConfigNode varied = common;
    std::vector<AxisValue> values;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      ConfigNode value = axes[a].children[at[a]];
      value.key_place = axes[a].key_place;
      set_path(varied, axes[a].key, value);
      expand_seeding(varied);
      values.push_back({axes[a].key, value.describe()});
    }
    settings.push_back(read_setting(varied, folder));
    settings.back().axes = std::move(values);
    const auto [same, is_new] = seen.emplace(identity(settings.back()), at);
    if (!is_new) fail_same(axes, at, same->second);

    std::size_t a = axes.size();
    while (a > 0 && ++at[a - 1] == axes[a - 1].children.size()) at[--a] = 0;
    if (a == 0) return settings;
  }
}

// The path with the key of Lloyd in place of one that is meant so: "seeding.seed" for
// "seeding.seeds".
std::string known_path(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return path;
  const std::string key = apps::key_for(path.substr(dot + 1));
  return key.rfind('.') == dot && key.starts_with(path.substr(0, dot)) ? key : path;
}

// Throws InputError if a key of a setting has a list, which belongs under 'sweep'.
void refuse_lists(const ConfigNode& node, const std::string& path) {
  if (path == "dataset.columns" || path == "dataset.drop_columns" || path == "dataset.missing") {
    return;
  }
  if (node.is_sequence()) {
    std::vector<std::string> values;
    for (const ConfigNode& value : node.children) values.push_back(value.describe());
    node.fail(fmt::format(
        "'{}' takes one value, not a list; several values are an axis: "
        "'sweep: {{{}: [{}]}}'",
        path, known_path(path), shown(fmt::format("{}", fmt::join(values, ", ")), 100)));
  }
  for (const ConfigNode& child : node.children) refuse_lists(child, path + "." + child.key);
}

void refuse_lists(const ConfigNode& document) {
  for (const std::string& key : setting_keys()) {
    if (const ConfigNode* node = document.find(key)) refuse_lists(*node, key);
  }
}

// Makes settings with the same data set adjacent, so that each data set is made once.
void group_by_dataset(std::vector<Setting>& settings) {
  std::map<std::string, std::size_t> ranks;
  std::vector<std::pair<std::size_t, Setting>> ranked;
  for (Setting& setting : settings) {
    const std::size_t rank = ranks.emplace(setting.dataset.key(), ranks.size()).first->second;
    ranked.emplace_back(rank, std::move(setting));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(ranked.begin(), ranked.end(), settings.begin(),
                 [](auto& entry) { return std::move(entry.second); });
}

constexpr std::size_t kMaxNameBytes = NAME_MAX;

// True if a folder of this name lies directly in its parent folder.
bool is_folder_name(const std::string& name) {
  return name != "." && name != ".." && name.find('/') == std::string::npos;
}

// Throws InputError if a component of the path exceeds the maximum length of a folder name.
void check_folder_names(const std::filesystem::path& folder) {
  for (const std::filesystem::path& part : folder) {
    const std::size_t bytes = part.native().size();
    if (bytes <= kMaxNameBytes) continue;
    throw InputError(
        fmt::format("the name of the folder '{}' has {} bytes; at most {} are possible",
                    shown(part.native()), bytes, kMaxNameBytes));
  }
}

Until read_until(const ConfigNode& node) {
  const MapReader map(node, "until", {"relative_error", "max_seconds"});
  Until until;
  if (const ConfigNode* error = map.find("relative_error")) {
    until.relative_error = read_number(*error, "until.relative_error", 0);
    if (until.relative_error == 0 || until.relative_error > 1) {
      error->fail(fmt::format("'until.relative_error' must be above 0 and at most 1, not {}",
                              error->kind_text()));
    }
  }
  if (const ConfigNode* seconds = map.find("max_seconds")) {
    until.max_seconds = read_number(*seconds, "until.max_seconds", 0);
  }
  return until;
}

Checks read_checks(const ConfigNode& node) {
  const MapReader map(node, "checks", {"samples", "seconds"});
  Checks checks;
  const ConfigNode* samples = map.find("samples");
  if (samples != nullptr && samples->text != "all") {
    try {
      checks.samples = read_integer(*samples, "checks.samples", 1);
    } catch (const InputError&) {
      samples->fail(fmt::format("'checks.samples' must be 'all' or an integer >= 1, not {}",
                                samples->kind_text()));
    }
  }
  if (const ConfigNode* seconds = map.find("seconds")) {
    checks.seconds = read_number(*seconds, "checks.seconds", 0);
    if (checks.seconds == 0) seconds->fail("'checks.seconds' must be above 0, not 0");
  }
  return checks;
}

// The launcher starts the processes of ranks, perhaps on other machines.
void refuse_limits_with_ranks(const MapReader& map) {
  for (const char* key : {"memory_limit", "cpus"}) {
    const ConfigNode* limit = map.find(key);
    if (limit == nullptr) continue;
    limit->fail_at_key(
        fmt::format("'{}' cannot be combined with 'ranks': the launcher places the ranks", key));
  }
}

// True if at least one setting may measure phases.
bool may_profile(const ConfigNode& document, const std::vector<ConfigNode>& axes) {
  const ConfigNode* profile = document.find("profile");
  return (profile != nullptr && profile->text == "true") ||
         std::any_of(axes.begin(), axes.end(),
                     [](const ConfigNode& axis) { return axis.key == "profile"; });
}

}  // namespace

Experiment read_experiment(ConfigNode document, const std::filesystem::path& folder,
                           const std::string& fallback_name, const Overrides& overrides,
                           const std::filesystem::path& output) {
  std::vector<std::string> keys = {"experiment", "backends",  "optional",        "baseline",
                                   "repeats",    "until",     "order_seed",      "trace",
                                   "sweep",      "reference", "output",          "checks",
                                   "silhouette", "counters",  "repeat_throttled"};
  keys.insert(keys.end(), setting_keys().begin(), setting_keys().end());
  keys.insert(keys.end(), isolation_keys().begin(), isolation_keys().end());
  keys.insert(keys.end(), launch_keys().begin(), launch_keys().end());
  const MapReader map(document, "", keys);

  Experiment experiment;
  experiment.name = fallback_name;
  if (const ConfigNode* name = map.find("experiment")) {
    experiment.name = read_text(*name, "experiment");
  }
  std::vector<ConfigNode> axes;
  if (const ConfigNode* sweep = map.find("sweep")) axes = read_axes(*sweep, keys);
  experiment.backends = read_backends(map.require("backends"));
  std::set<std::string> optional;
  if (const ConfigNode* names = map.find("optional")) {
    optional = read_optional(*names, experiment.backends);
  }
  if (const ConfigNode* reference = map.find("reference")) {
    const bool baseline = document.find("baseline") != nullptr;
    experiment.references = read_references(
        *reference, {axes, experiment.backends, baseline, may_profile(document, axes)});
  }
  // References and `optional` above are checked against the axes and backends of the file, before
  // overrides reduce them.
  apply_overrides(document, overrides);
  if (!overrides.empty()) {
    const ConfigNode* const sweep = map.find("sweep");
    axes = sweep != nullptr ? read_axes(*sweep, keys) : std::vector<ConfigNode>();
    experiment.backends = read_backends(map.require("backends"));
  }
  for (BackendRequest& backend : experiment.backends) {
    backend.optional = optional.contains(backend.name);
    if (backend.name == external::kBackendName) take_program(backend, folder);
  }
  if (const ConfigNode* baseline = map.find("baseline")) {
    experiment.baseline = read_backend(*baseline, "baseline", false);
  }
  if (const ConfigNode* repeats = map.find("repeats")) {
    experiment.repeats = read_integer(*repeats, "repeats", 1, kMaxRepeats);
  }
  experiment.isolation = read_isolation(map);
  experiment.launch = read_launch(map);
  if (!experiment.launch.ranks.empty()) refuse_limits_with_ranks(map);
  if (const ConfigNode* checks = map.find("checks")) experiment.checks = read_checks(*checks);
  if (const ConfigNode* silhouette = map.find("silhouette")) {
    experiment.silhouette = read_boolean(*silhouette, "silhouette");
  }
  if (const ConfigNode* counters = map.find("counters")) {
    experiment.counters = read_boolean(*counters, "counters");
  }
  if (const ConfigNode* repeat = map.find("repeat_throttled")) {
    experiment.repeat_throttled = read_boolean(*repeat, "repeat_throttled");
  }
  if (const ConfigNode* trace = map.find("trace")) {
    experiment.trace = read_boolean(*trace, "trace");
  }
  if (const ConfigNode* until = map.find("until")) experiment.until = read_until(*until);
  if (const ConfigNode* seed = map.find("order_seed")) {
    experiment.order_seed = read_seed(*seed, "order_seed");
  }
  experiment.output = std::filesystem::path("results") / experiment.name;
  if (const ConfigNode* node = map.find("output")) {
    experiment.output = read_text(*node, "output");
    try {
      check_folder_names(experiment.output);
    } catch (const InputError& error) {
      node->fail(fmt::format("'output': {}", error.what()));
    }
  } else if (output.empty() && experiment.name.size() > kMaxNameBytes) {
    const ConfigNode* name = map.find("experiment");
    (name == nullptr ? document : *name)
        .fail(fmt::format("'experiment' names a folder, as 'output' is not given, and has {} "
                          "bytes; at most {} are possible",
                          experiment.name.size(), kMaxNameBytes));
  } else if (output.empty() && !is_folder_name(experiment.name)) {
    const ConfigNode* name = map.find("experiment");
    (name == nullptr ? document : *name)
        .fail("'experiment' must not be '.' or '..' nor hold '/' unless 'output' is given");
  }

  if (!output.empty()) {
    check_folder_names(output);
    experiment.output = output;
  }

  expand_seeding(document);
  // Values that axes replace must be valid too, unless the document is incomplete without the axes.
  const ConfigNode* dataset = document.find("dataset");
  try {
    if (dataset != nullptr &&
        (dataset->find("blobs") != nullptr || dataset->find("file") != nullptr)) {
      read_setting(document, folder);
    }
    experiment.settings = expand(document, axes, folder);
  } catch (const InputError&) {
    refuse_lists(document);
    throw;
  }
  group_by_dataset(experiment.settings);
  return experiment;
}

Experiment load_experiment(const std::filesystem::path& file, const Overrides& overrides,
                           const std::filesystem::path& output) {
  std::error_code error;
  const std::string kind = apps::file_kind(file);
  const bool may_be_config = kind.empty() || kind.find("experiment") != std::string::npos ||
                             file.extension() == ".json";  // JSON is YAML
  if (!may_be_config && std::filesystem::is_regular_file(file, error)) {
    throw InputError(
        fmt::format("{} is {}, not the YAML file of an experiment{}", file.string(), kind,
                    find_format(file) ? "; 'dataset: {file: ...}' names it in one" : ""));
  }
  return read_experiment(read_config(file), file.parent_path(), file.stem().string(), overrides,
                         output);
}

}  // namespace lloyd::experiment
