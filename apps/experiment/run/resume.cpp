#include "experiment/run/resume.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "text/numbers.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

namespace {

constexpr const char* kOnlyRepeats =
    " (only repeats can be added to a run; 'lloyd history FOLDER...' shows the rows of several "
    "runs "
    "together)";

std::string value_text(const ordered_json& value) {
  if (value.is_null()) return "not there";
  return value.is_string() ? fmt::format("'{}'", value.get_ref<const std::string&>())
                           : value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

const ordered_json& member(const ordered_json& object, const std::string& key) {
  static const ordered_json null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

// Describes the first leaf that differs, as "'seeding.seed' was 1 and is 2"; empty if none does.
std::string leaf_difference(const std::string& path, const ordered_json& before,
                            const ordered_json& now) {
  if (before == now) return {};
  if (!before.is_object() || !now.is_object()) {
    return fmt::format("'{}' was {} and is {}", path, value_text(before), value_text(now));
  }
  for (const ordered_json* keys : {&before, &now}) {
    for (const auto& [key, value] : keys->items()) {
      std::string found =
          leaf_difference(fmt::format("{}.{}", path, key), member(before, key), member(now, key));
      if (!found.empty()) return found;
    }
  }
  return {};
}

// As leaf_difference(), but skips members that are null on either side, which means unknown.
std::string known_difference(const std::string& path, const ordered_json& before,
                             const ordered_json& now) {
  for (const auto& [key, value] : before.items()) {
    const ordered_json& other = member(now, key);
    if (value.is_null() || other.is_null()) continue;
    std::string found = leaf_difference(fmt::format("{}.{}", path, key), value, other);
    if (!found.empty()) return found;
  }
  return {};
}

std::string setting_difference(const ordered_json& before, const ordered_json& now) {
  if (before["setting"] == now["setting"]) return {};
  std::string found = known_difference("dataset", before["dataset"], now["dataset"]);
  for (const char* key : {"clusters", "restarts", "stop", "empty_clusters", "profile", "cold_l2"}) {
    if (found.empty()) found = leaf_difference(key, before[key], now[key]);
  }
  if (found.empty()) found = known_difference("seeding", before["seeding"], now["seeding"]);
  return found.empty() ? "the centroids of 'seeding.file' have changed" : found;
}

std::string backend_difference(const Record& before, const PlannedFit& fit) {
  const bool skipped = before.status == TrialStatus::skipped;
  if (skipped && (fit.skip.empty() || fit.failed)) {
    return fmt::format("it was skipped ({}) and would be run now", before.reason);
  }
  if (!skipped && !fit.skip.empty() && !fit.failed) {
    return fmt::format("it was to be run and would be skipped now: {}", fit.skip);
  }
  return {};
}

// The difference between a record and the plan of the same trial; empty if there is none.
std::string trial_difference(const Record& before, const Plan& plan, const Machine& machine) {
  ordered_json old = as_read(to_json(before));
  if (before.plan.settings != std::ssize(plan.settings)) {
    return fmt::format("it had {} and the experiment has {}{}",
                       format_count(before.plan.settings, "setting"), plan.settings.size(),
                       kOnlyRepeats);
  }
  if (before.plan.variants != std::ssize(plan.variants)) {
    return fmt::format("it had {} of backends and the experiment has {}{}",
                       format_count(before.plan.variants, "variant"), plan.variants.size(),
                       kOnlyRepeats);
  }
  const PlannedFit& fit = plan.fit(static_cast<std::size_t>(before.plan.setting),
                                   static_cast<std::size_t>(before.plan.variant));
  const ordered_json now = as_read(to_json(describe_trial(plan, fit, 0, before.run, machine)));
  old["machine"].erase("memory_bytes");

  std::string found;
  const auto look = [&found](std::string&& next) {
    if (found.empty()) found = std::move(next);
  };
  look(leaf_difference("until", member(old["plan"], "until"), member(now["plan"], "until")));
  look(known_difference("plan", {{"order_seed", member(old["plan"], "order_seed")}},
                        {{"order_seed", member(now["plan"], "order_seed")}}));
  look(leaf_difference("baseline", old["plan"]["baseline"], now["plan"]["baseline"]));
  const std::string keys[] = {"checks", "silhouette", "counters"};
  for (const std::string& key : keys) {
    const ordered_json& then = member(old["plan"], key);  // null: of an earlier version
    if (!then.is_null()) look(leaf_difference(key, then, member(now["plan"], key)));
  }
  if (before.isolation) {
    for (const char* key : {"isolate", "cpus"}) look(leaf_difference(key, old[key], now[key]));
  }
  look(setting_difference(old, now));
  look(leaf_difference("axes", old["axes"], now["axes"]));
  const std::string outer = found;  // differences that concern all variants
  look(leaf_difference("backend.name", old["backend"]["name"], now["backend"]["name"]));
  look(backend_difference(before, fit));
  look(leaf_difference("ranks", old["ranks"], now["ranks"]));
  look(leaf_difference("launcher", old["launcher"], now["launcher"]));
  look(leaf_difference("backend", old["backend"], now["backend"]));
  look(leaf_difference("reference", old["published"], now["published"]));
  if (outer.empty() && !found.empty()) {
    return fmt::format("{} ({})", found, before.backend.label);
  }
  look(known_difference("machine", old["machine"], now["machine"]));
  return found;
}

// A difference in trials that the record's run may not have reached.
std::string plan_difference(const Record& before, const Plan& plan) {
  // Records without an order seed have a hash of fewer keys than the plan's.
  const bool comparable = !before.plan.hash.empty() && before.plan.order_seed;
  if (!comparable || before.plan.hash == hash_with_repeats(plan, before.plan.repeats)) return {};
  return "it had other settings or backends among those that it did not reach";
}

// Prefers a difference that trial_difference() can name, in any record, to one that is only a hash.
std::string run_difference(const RecordedRun& run, const Plan& plan, const Machine& machine) {
  std::string unnamed;
  for (const std::vector<Record>& fit : run.fits) {
    for (const Record& record : fit) {
      std::string difference = trial_difference(record, plan, machine);
      if (!difference.empty()) return difference;
      if (unnamed.empty()) unnamed = plan_difference(record, plan);
    }
  }
  return unnamed;
}

// The repeats with which the plan resumes a run. All records of a run that was begun with more than
// the plan's have more.
std::int64_t resumed_repeats(const RecordedRun& run, const Plan& plan, ExtendedRepeats extended) {
  if (extended == ExtendedRepeats::refuse || run.repeats <= plan.repeats) return plan.repeats;
  std::int64_t begun_with = run.repeats;
  for (const std::vector<Record>& fit : run.fits) {
    for (const Record& record : fit) begun_with = std::min(begun_with, record.plan.repeats);
  }
  return begun_with <= plan.repeats ? run.repeats : plan.repeats;
}

}  // namespace

std::string find_difference(const Record& before, const Plan& plan, const Machine& machine) {
  std::string difference = trial_difference(before, plan, machine);
  return difference.empty() ? plan_difference(before, plan) : difference;
}

std::optional<LastRun> find_last_run(std::vector<RecordedRun> runs, const Plan& plan,
                                     const Machine& machine, ExtendedRepeats extended) {
  std::optional<LastRun> last;
  const std::string experiment = as_read(plan.experiment).get<std::string>();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->fits.front().front().experiment != experiment) continue;
    std::string difference = run_difference(*run, plan, machine);
    if (!difference.empty()) {
      if (!last) last = LastRun{run->id, std::move(difference), plan.repeats, {}};
      continue;
    }
    const std::int64_t repeats = resumed_repeats(*run, plan, extended);
    if (run->repeats > repeats) {
      return LastRun{run->id,
                     fmt::format("'repeats' was {} and is {}", run->repeats, repeats),
                     run->repeats,
                     {}};
    }
    LastRun same{run->id, {}, repeats, std::vector<std::vector<Record>>(plan.fits.size())};
    for (std::vector<Record>& records : run->fits) {
      const auto& place = records.front().plan;
      same.records[static_cast<std::size_t>(place.setting * place.variants + place.variant)] =
          std::move(records);
    }
    return same;
  }
  return last;
}

EarlierTrials earlier_trials(std::vector<std::vector<Record>> records, bool retry_failed) {
  auto done = std::make_shared<std::set<std::pair<std::size_t, std::int64_t>>>();
  std::size_t variants = 1;
  for (std::size_t fit = 0; fit < records.size(); ++fit) {
    for (const Record& record : records[fit]) {
      variants = static_cast<std::size_t>(record.plan.variants);
      if (record.status == TrialStatus::cancelled) continue;
      if (is_failure(record.status) && retry_failed) continue;
      done->emplace(fit, record.repeat);
    }
  }
  return {std::move(records), [done, variants](const PlannedFit& fit, std::int64_t repeat) {
            return done->contains({fit.setting * variants + fit.variant, repeat});
          }};
}

std::int64_t failed_trials(const EarlierTrials& earlier) {
  std::int64_t count = 0;
  for (const std::vector<Record>& records : earlier.records) {
    std::map<std::int64_t, bool> failed;  // by repeat; a later record supersedes an earlier one
    for (const Record& record : records) {
      if (record.status != TrialStatus::cancelled) {
        failed[record.repeat] = is_failure(record.status);
      }
    }
    count +=
        std::count_if(failed.begin(), failed.end(), [](const auto& each) { return each.second; });
  }
  return count;
}

std::int64_t trials_left(const Plan& plan, const EarlierTrials& earlier) {
  std::int64_t left = 0;
  for (const PlannedFit& fit : plan.fits) {
    if (!fit.skip.empty()) continue;
    for (std::int64_t repeat = 0; repeat < plan.repeats; ++repeat)
      left += !earlier.done(fit, repeat);
  }
  for (std::size_t s = 0; s < plan.settings.size(); ++s) {
    if (const auto begun = left_of_further_rounds(plan, earlier, s)) left += std::ssize(*begun);
  }
  return left;
}

std::vector<bool> variants_left(const Plan& plan, const EarlierTrials& earlier) {
  std::vector<bool> left(plan.variants.size());
  for (std::size_t s = 0; s < plan.settings.size(); ++s) {
    const auto begun = left_of_further_rounds(plan, earlier, s);
    for (const PlannedTrial& trial : begun.value_or(std::vector<PlannedTrial>())) {
      left[plan.fits[trial.fit].variant] = true;
    }
    const bool unknown = plan.until && !begun;  // further rounds follow the repeats
    for (std::size_t v = 0; v < plan.variants.size(); ++v) {
      const PlannedFit& fit = plan.fit(s, v);
      if (!fit.skip.empty()) continue;
      bool any = unknown;
      for (std::int64_t repeat = 0; repeat < plan.repeats && !any; ++repeat) {
        any = !earlier.done(fit, repeat);
      }
      left[v] = left[v] || any;
    }
  }
  return left;
}

}  // namespace lloyd::experiment
