#include "experiment/summary/compare.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "text/names.hpp"
#include "text/numbers.hpp"

namespace lloyd::experiment {
namespace {

std::string row_text(const Summary& summary, const SummaryRow& row) {
  const std::string setting = setting_text(summary, row);
  return setting.empty() ? row.backend : fmt::format("{} with {}", row.backend, setting);
}

// The quality difference that makes the faster side the worse one; empty if there is none.
std::string worse(const ComparedRow& row, Verdict verdict) {
  return verdict == Verdict::faster ? quality_difference(row.newer.quality, row.older.quality)
                                    : quality_difference(row.older.quality, row.newer.quality);
}

bool is_change(Verdict verdict) {
  return verdict == Verdict::faster || verdict == Verdict::slower;
}

// No speedup without quality: if the faster side is worse, the verdict is `unclear`.
void hold_to_quality(ComparedRow& row) {
  if (!is_change(row.time.verdict)) return;
  const std::string differs = worse(row, row.time.verdict);
  if (differs.empty()) return;
  row.differs = true;
  const bool newer = row.time.verdict == Verdict::faster;
  const Quality& quality = newer ? row.newer.quality : row.older.quality;
  const Quality& other = newer ? row.older.quality : row.newer.quality;
  const char* const side = newer ? "new" : "old";
  row.time.reason =
      quality.accuracy > other.accuracy
          ? fmt::format("{} is less accurate ({})", side, apps::to_string(quality.accuracy))
          : fmt::format("{}: {}", side, differs);
  row.time.verdict = Verdict::unclear;
}

// If other programs loaded the machine during one run, the verdict is `unclear`, since their load
// looks like a change.
void hold_to_quiet(ComparedRow& row, const Summary& older, const Summary& newer) {
  if (!is_change(row.time.verdict)) return;
  for (const auto& [name, run] : {std::pair("old", &older), std::pair("new", &newer)}) {
    const std::optional<MachineLoad>& load = run->disturbances.load;
    if (!load || !load->busy()) continue;
    row.time.verdict = Verdict::unclear;
    row.time.reason = fmt::format("{}: busy machine, load {}", name, format_number(load->median));
    return;
  }
}

void add_row(RunComparison& comparison, const Summary& older, const SummaryRow& old_row,
             const Summary& newer, const SummaryRow& new_row) {
  if (old_row.ok == 0) {
    comparison.without_time.push_back(
        fmt::format("{} (old): {}", row_text(older, old_row), old_row.problem));
  }
  if (new_row.ok == 0) {
    comparison.without_time.push_back(
        fmt::format("{} (new): {}", row_text(newer, new_row), new_row.problem));
  }
  if (old_row.ok == 0 || new_row.ok == 0) return;
  ComparedRow row{old_row, new_row, {}};
  row.by_fits = needs_whole_fits(comparison.per_iteration, old_row, new_row);
  const Timings& before = row.by_fits ? old_row.fit_timings : old_row.timings;
  const Timings& after = row.by_fits ? new_row.fit_timings : new_row.timings;
  row.time = comparison.paired ? compare_rounds(before, after) : compare_runs(before, after);
  if (!comparison.paired) hold_to_quiet(row, older, newer);
  hold_to_quality(row);
  comparison.rows.push_back(std::move(row));
}

// The mean is no clearer than its rows. It is `unclear` if a row has too few trials. It is neither
// `faster` nor `slower` if the faster side is worse in a row or, for two runs, if a row is unclear:
// a disturbance may have affected the whole run.
Verdict mean_verdict(const RunComparison& comparison, const std::string& backend,
                     const MedianInterval& ratio) {
  const Verdict verdict = verdict_of(ratio);
  for (const ComparedRow& row : comparison.rows) {
    if (row.newer.backend != backend) continue;
    if (row.time.timings < kMinTimingsForVerdict) return Verdict::unclear;
    if (!is_change(verdict)) continue;
    if (!worse(row, verdict).empty()) return Verdict::unclear;
    if (!comparison.paired && row.time.verdict == Verdict::unclear) return Verdict::unclear;
  }
  return verdict;
}

void finish(RunComparison& comparison) {
  std::vector<std::string> backends;
  std::map<std::string, std::vector<MedianInterval>> ratios;
  for (const ComparedRow& row : comparison.rows) {
    if (!(row.time.ratio.median > 0)) continue;
    std::vector<MedianInterval>& of_backend = ratios[row.newer.backend];
    if (of_backend.empty()) backends.push_back(row.newer.backend);
    of_backend.push_back(row.time.ratio);
  }
  for (const std::string& backend : backends) {
    const MedianInterval mean = geometric_mean(ratios[backend]);
    comparison.means.push_back(
        {backend, mean, mean_verdict(comparison, backend, mean), std::ssize(ratios[backend])});
  }
}

// Appends a warning for each parameter that differs between backends of the same label, which names
// only the parameters that vary within a run.
void compare_parameters(const RecordGroups& older, const RecordGroups& newer,
                        std::vector<std::string>& warnings) {
  std::map<std::string, const nlohmann::ordered_json*> parameters;
  for (const std::vector<Record>& group : older) {
    const Record& record = group.front();
    parameters.emplace(record.backend.label, &record.backend.parameters);
  }
  for (const std::vector<Record>& group : newer) {
    const Record& record = group.front();
    const auto before = parameters.find(record.backend.label);
    if (before == parameters.end()) continue;
    for (const auto& [name, value] : record.backend.parameters.items()) {
      const auto found = before->second->find(name);
      if (found == before->second->end() || *found == value) continue;
      warnings.push_back(fmt::format("parameter '{}' of {}: {} (old), {} (new)", shown(name, 100),
                                     shown(record.backend.label, 100), shown(found->dump(), 100),
                                     shown(value.dump(), 100)));
    }
    parameters.erase(before);
  }
}

// Differences of programs and conditions that change the times of two runs, or their unit.
std::vector<std::string> warnings_of(const RecordGroups& older, const RecordGroups& newer) {
  std::vector<std::string> warnings;
  const Machine& before = older.front().front().machine;
  const Machine& after = newer.front().front().machine;
  const auto compare_fact = [&](const char* what, const std::string& old_fact,
                                const std::string& new_fact) {
    if (old_fact == new_fact || old_fact.empty() || new_fact.empty()) return;
    warnings.push_back(fmt::format("{}: {} (old), {} (new)", what, old_fact, new_fact));
  };
  const auto cores_text = [](const Machine& machine) {
    return machine.cores > 0 ? fmt::format("{}", machine.cores) : std::string();
  };
  compare_fact("the runs are of different processors", before.cpu, after.cpu);
  compare_fact("the runs had different numbers of processors", cores_text(before),
               cores_text(after));
  compare_fact("the runs are of different versions of Lloyd", before.lloyd, after.lloyd);
  if (before.lloyd == after.lloyd) {
    compare_fact("the runs are of different commits of Lloyd", before.commit, after.commit);
  }
  compare_fact("the programs were built differently", before.build_type, after.build_type);
  compare_parameters(older, newer, warnings);
  const bool old_fixed = has_fixed_iterations(older);
  if (old_fixed != has_fixed_iterations(newer)) {
    warnings.push_back(
        fmt::format("times are per fit: only the {} run has 'stop.iterations' in every setting",
                    old_fixed ? "old" : "new"));
  }
  return warnings;
}

// True if both are the same backend with the same parameters, those that only one version has
// aside.
bool same_variant(const Record& a, const Record& b) {
  if (a.backend.name != b.backend.name) return false;
  const auto& parameters = a.backend.parameters.items();
  return std::all_of(parameters.begin(), parameters.end(), [&](const auto& parameter) {
    const auto other = b.backend.parameters.find(parameter.key());
    return other == b.backend.parameters.end() || *other == parameter.value();
  });
}

// Rows of one setting without a match, by index.
struct Unmatched {
  std::vector<std::size_t> older;
  std::vector<std::size_t> newer;
};

// A label depends on the other variants of its run, so equal variants may have different ones. For
// each row of the older run without a match (null in `matches`), finds the row of the newer run,
// among those in `left`, with the same setting and variant, if each is the only such row for the
// other.
void match_variants(const RecordGroups& older, const RecordGroups& newer,
                    std::vector<std::optional<std::size_t>>& matches, std::vector<bool>& left) {
  std::map<std::string, Unmatched> settings;
  for (std::size_t o = 0; o < older.size(); ++o) {
    if (!matches[o]) settings[older[o].front().setting].older.push_back(o);
  }
  for (std::size_t n = 0; n < newer.size(); ++n) {
    if (left[n]) settings[newer[n].front().setting].newer.push_back(n);
  }
  for (const auto& [setting, rows] : settings) {
    const auto equal_newer = [&, &all = rows.newer](std::size_t o) {
      std::vector<std::size_t> equal;
      std::copy_if(all.begin(), all.end(), std::back_inserter(equal),
                   [&](std::size_t n) { return same_variant(older[o].front(), newer[n].front()); });
      return equal;
    };
    for (const std::size_t o : rows.older) {
      const std::vector<std::size_t> found = equal_newer(o);
      if (found.size() != 1) continue;
      const auto rivals =
          std::count_if(rows.older.begin(), rows.older.end(), [&](std::size_t other) {
            return same_variant(older[other].front(), newer[found.front()].front());
          });
      if (rivals != 1) continue;
      matches[o] = found.front();
      left[found.front()] = false;
    }
  }
}

// Appends the parameters that differ between backends of which each run has one variant.
void compare_only_variants(const RecordGroups& older, const RecordGroups& newer,
                           std::vector<std::string>& parts) {
  const auto only = [](const RecordGroups& run, const std::string& name) {
    const Record* found = nullptr;
    for (const std::vector<Record>& fit : run) {
      const Record& record = fit.front();
      if (record.backend.name != name) continue;
      if (found != nullptr && found->backend.label != record.backend.label) {
        return static_cast<const Record*>(nullptr);
      }
      found = &record;
    }
    return found;
  };
  std::vector<std::string> seen;
  for (const std::vector<Record>& fit : older) {
    const std::string& name = fit.front().backend.name;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    seen.push_back(name);
    const Record* before = only(older, name);
    const Record* after = only(newer, name);
    if (before == nullptr || after == nullptr) continue;
    for (const auto& [parameter, value] : before->backend.parameters.items()) {
      const auto other = after->backend.parameters.find(parameter);
      if (other == after->backend.parameters.end() || *other == value) continue;
      parts.push_back(fmt::format("parameter '{}' of {}: {} (old), {} (new)", shown(parameter, 100),
                                  shown(name, 100), shown(value.dump(), 100),
                                  shown(other->dump(), 100)));
    }
  }
}

// Appends the settings of the data sets that differ: "standardize: false (old), true (new)".
void compare_sources(const Record& older, const Record& newer, std::vector<std::string>& parts) {
  SettingFacts before;
  SettingFacts after;
  before.changed = changed_settings(older);
  after.changed = changed_settings(newer);
  for (const SettingDefault& setting_default : defaults_of({before, after})) {
    if (!setting_default.path.starts_with("dataset.") || setting_default.path == "dataset.dtype")
      continue;
    const nlohmann::ordered_json old_value = value_of(before, setting_default);
    const nlohmann::ordered_json new_value = value_of(after, setting_default);
    if (old_value == new_value) continue;
    parts.push_back(fmt::format("{}: {} (old), {} (new)", setting_key_text(setting_default.path),
                                setting_value_text(old_value), setting_value_text(new_value)));
  }
}

// What differs between the first settings of two runs: "clusters: 2 (old), 5 (new)"; or, if they
// have a setting in common, their backends.
std::string difference_text(const RecordGroups& older, const RecordGroups& newer) {
  std::set<std::string> settings;
  for (const std::vector<Record>& fit : newer) settings.insert(fit.front().setting);
  const bool common = std::any_of(older.begin(), older.end(), [&](const std::vector<Record>& fit) {
    return settings.contains(fit.front().setting);
  });
  const Record& before = older.front().front();
  const Record& after = newer.front().front();
  std::vector<std::string> parts;
  const auto add = [&](const char* what, const std::string& old_fact, const std::string& new_fact) {
    if (old_fact == new_fact) return;
    parts.push_back(
        fmt::format("{}: {} (old), {} (new)", what, shown(old_fact, 200), shown(new_fact, 200)));
  };
  const auto add_number = [&](const char* what, const auto& old_number, const auto& new_number) {
    add(what, fmt::format("{}", old_number), fmt::format("{}", new_number));
  };
  if (common) {
    add("backends", fmt::format("{}", fmt::join(variant_labels(older), ", ")),
        fmt::format("{}", fmt::join(variant_labels(newer), ", ")));
    compare_only_variants(older, newer, parts);
  } else {
    add("data set", before.dataset.name, after.dataset.name);
    add_number("samples", before.dataset.samples, after.dataset.samples);
    add_number("features", before.dataset.features, after.dataset.features);
    add("dtype", before.dataset.dtype, after.dataset.dtype);
    compare_sources(before, after, parts);
    if (parts.empty()) add("data", before.dataset.fingerprint, after.dataset.fingerprint);
    add_number("clusters", before.clusters, after.clusters);
    add("seeding", before.seeding.method, after.seeding.method);
    add_number("seed", before.seeding.seed, after.seeding.seed);
    add_number("restarts", before.restarts, after.restarts);
    add("stop", before.stop.dump(), after.stop.dump());
    add("empty_clusters", before.empty_clusters, after.empty_clusters);
    add_number("profile", before.profile, after.profile);
    add_number("cold_l2", before.cold_l2, after.cold_l2);
    if (parts.empty()) add("seeding.file", before.seeding.file, after.seeding.file);
    if (parts.empty() && !before.seeding.file.empty()) {
      return "; the centroids of 'seeding.file' have changed";
    }
  }
  if (parts.empty()) return "";
  return fmt::format("; {}{}", common ? "" : "their first settings differ in ",
                     fmt::join(parts, "; "));
}

void require_rows(const RunComparison& comparison) {
  if (!comparison.rows.empty()) return;
  if (comparison.without_time.empty()) {
    throw InputError("nothing can be compared: the two have no setting with a backend in common");
  }
  throw InputError(fmt::format("nothing can be compared: no setting has times on both sides ({})",
                               shown(comparison.without_time.front(), 1000)));
}

}  // namespace

RunComparison compare_recorded_runs(const RecordGroups& older, const RecordGroups& newer) {
  RunComparison comparison;
  comparison.per_iteration = has_fixed_iterations(older) && has_fixed_iterations(newer);
  comparison.warnings = warnings_of(older, newer);
  const Summary old_summary = summarize(older, comparison.per_iteration);
  const Summary new_summary = summarize(newer, comparison.per_iteration);
  comparison.axes = varying_axes_of(old_summary);
  // The rows of a summary are those of the groups.
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (std::size_t n = 0; n < new_summary.rows.size(); ++n) {
    places.emplace(std::pair(new_summary.rows[n].setting, new_summary.rows[n].backend), n);
  }
  std::vector<std::optional<std::size_t>> matches(old_summary.rows.size());
  std::vector<bool> left(new_summary.rows.size(), true);
  for (std::size_t o = 0; o < matches.size(); ++o) {
    const auto found = places.find({old_summary.rows[o].setting, old_summary.rows[o].backend});
    if (found == places.end() || !left[found->second]) continue;
    matches[o] = found->second;
    left[found->second] = false;
  }
  match_variants(older, newer, matches, left);
  for (std::size_t o = 0; o < matches.size(); ++o) {
    const SummaryRow& row = old_summary.rows[o];
    if (matches[o]) {
      add_row(comparison, old_summary, row, new_summary, new_summary.rows[*matches[o]]);
    } else {
      comparison.only_older.push_back(row_text(old_summary, row));
    }
  }
  for (std::size_t n = 0; n < left.size(); ++n) {
    if (left[n]) comparison.only_newer.push_back(row_text(new_summary, new_summary.rows[n]));
  }
  if (comparison.rows.empty() && comparison.without_time.empty()) {
    throw InputError(
        fmt::format("nothing can be compared: the two have no setting with a backend in common{}",
                    difference_text(older, newer)));
  }
  require_rows(comparison);
  finish(comparison);
  return comparison;
}

std::vector<std::string> variant_labels(const RecordGroups& run) {
  const std::string& baseline = run.front().front().plan.baseline;
  std::vector<std::string> labels;
  for (const std::vector<Record>& group : run) {
    const std::string& label = group.front().backend.label;
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  std::stable_partition(labels.begin(), labels.end(),
                        [&](const std::string& label) { return label == baseline; });
  return labels;
}

RunComparison compare_variants(const RecordGroups& run, const std::string& older,
                               const std::string& newer) {
  const std::vector<std::string> labels = variant_labels(run);
  for (const std::string& label : {older, newer}) {
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) continue;
    throw InputError(
        fmt::format("the run has no backend '{}'{}", shown(label, 100), suggestion(label, labels)));
  }
  if (older == newer)
    throw InputError(fmt::format("'{}' cannot be compared to itself", shown(older, 100)));
  RunComparison comparison;
  comparison.paired = true;
  RecordGroups both;
  for (const std::vector<Record>& group : run) {
    const std::string& label = group.front().backend.label;
    if (label == older || label == newer) both.push_back(group);
  }
  comparison.per_iteration = has_fixed_iterations(both);
  const Summary summary = summarize(both, comparison.per_iteration);
  comparison.axes = varying_axes_of(summary);
  for (const SummaryRow& old_row : summary.rows) {
    if (old_row.backend != older) continue;
    for (const SummaryRow& new_row : summary.rows) {
      if (new_row.backend != newer || new_row.setting != old_row.setting) continue;
      add_row(comparison, summary, old_row, summary, new_row);
    }
  }
  require_rows(comparison);
  finish(comparison);
  return comparison;
}

bool is_slower_than(const RunComparison& comparison, double share) {
  for (const ComparedRow& row : comparison.rows) {
    // A slower newer side counts if it is also worse in quality, but not if it is better.
    const bool slower = row.time.verdict == Verdict::slower ||
                        (row.differs && !worse(row, Verdict::faster).empty());
    if (slower && row.time.ratio.low > 1 + share) return true;
  }
  return std::any_of(comparison.means.begin(), comparison.means.end(),
                     [&](const ComparedMean& mean) {
                       return mean.verdict == Verdict::slower && mean.ratio.low > 1 + share;
                     });
}

}  // namespace lloyd::experiment
