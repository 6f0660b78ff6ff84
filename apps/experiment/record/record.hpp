// Record: the result of a trial; one JSON object per line of records.jsonl.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/config/isolation.hpp"
#include "experiment/environment/conditions.hpp"
#include "experiment/environment/machine.hpp"
#include "experiment/plan/plan.hpp"
#include "experiment/trial/trace.hpp"
#include "experiment/trial/trial_work.hpp"
#include "fit/measurements.hpp"
#include "fit/rank_times.hpp"

namespace lloyd::experiment {

/// Version of the record's schema.
inline constexpr int kRecordSchema = 1;

/// Maximum size of a line of records.jsonl in bytes, some hundred times the longest record. Longer
/// lines are rejected while they are read.
inline constexpr std::int64_t kMaxRecordBytes = std::int64_t{64} << 20;

enum class TrialStatus { ok, skipped, failed, timed_out, cancelled };
std::string_view to_string(TrialStatus status);
/// True if the trial ran and did not succeed; false if it was cancelled.
constexpr bool is_failure(TrialStatus status) {
  return status != TrialStatus::ok && status != TrialStatus::skipped &&
         status != TrialStatus::cancelled;
}
/// Throws InputError for an unknown name; the message lists the known ones.
TrialStatus parse_trial_status(std::string_view name);

struct Record {
  std::string experiment;
  std::string run;      ///< identifies one run of `lloyd run`
  std::string setting;  ///< PlannedSetting::hash
  std::vector<AxisValue> axes;

  /// The position of the trial in the run's plan, which pairs every setting with every variant.
  struct {
    std::int64_t setting = 0;  ///< in [0, settings)
    std::int64_t settings = 1;
    std::int64_t variant = 0;  ///< in [0, variants)
    std::int64_t variants = 1;
    std::int64_t repeats = 1;
    std::optional<Until> until;               ///< if set, `repeats` is the minimum
    std::optional<std::uint64_t> order_seed;  ///< none in records of earlier versions
    std::string baseline;                     ///< label of the baseline variant; empty: none
    std::string hash;                         ///< Plan::hash; empty in records of earlier versions
    std::optional<Checks> checks;    ///< Plan::checks; these three: none in earlier versions
    std::optional<bool> silhouette;  ///< Plan::silhouette
    std::optional<bool> counters;    ///< Plan::counters
  } plan;

  struct {
    std::string name;
    std::string label;  ///< name, and the parameters in which the backend's variants differ
    /// This and the following members are empty if the plugin is missing, except for the parameters
    /// that the experiment names.
    std::string version;
    nlohmann::ordered_json parameters;  ///< an object, name to value
    std::string accuracy;               ///< stated label accuracy for this data set's dtype
    std::string reproducibility;
    std::vector<std::string> devices;
  } backend;

  struct {
    std::string name;
    std::int64_t samples = 0;
    std::int64_t features = 0;
    std::string dtype;
    std::string fingerprint;  ///< empty if the data set was never made
    nlohmann::ordered_json source;
  } dataset;

  std::int64_t clusters = 0;
  struct {
    std::string method;
    std::uint64_t seed = 0;
    std::string file;                    ///< only for method `file`
    std::optional<double> oversampling;  ///< only for method `k-means||`
    std::optional<std::int64_t> rounds;  ///< only for method `k-means||`
    /// Wall time in milliseconds for all restarts, which all backends of a setting share.
    std::optional<double> ms;
    /// Name of the backend whose kernels computed the distances; empty if Lloyd's own code did, and
    /// in records of earlier versions.
    std::string backend;
  } seeding;
  std::int64_t restarts = 1;
  nlohmann::ordered_json stop;
  std::string empty_clusters;
  bool profile = false;
  bool cold_l2 = false;  ///< false in records of earlier versions
  /// The process and limits of the trial; none in records of earlier versions.
  std::optional<Isolation> isolation;

  /// Number of processes of the trial; 0: one, without a launcher, and in records of earlier
  /// versions.
  std::int64_t ranks = 0;
  std::string launcher;  ///< Launch::launcher; empty without ranks
  /// Of the timed fit, all restarts; none without ranks, and if the trial did not succeed.
  std::optional<apps::RankTimes> rank_times;

  std::int64_t repeat = 0;  ///< 0, 1, ...: the round
  /// Place among the trials of its setting, from 0; none if no trial ran, and in records of earlier
  /// versions.
  std::optional<std::int64_t> order;
  TrialStatus status = TrialStatus::ok;
  std::string reason;  ///< empty for `ok`; "not run" if an interrupted run did not reach the trial
  /// Milliseconds from the start of the trial's process until its plugin was loaded; none if the
  /// trial ran in the process of `lloyd run`.
  std::optional<double> start_ms;
  /// Failure to release session or backend after the outcome; empty: none.
  std::string release_failure;
  std::optional<Measurements> fit;
  std::optional<AfterOne> after_one;
  std::optional<MemoryEstimate> memory;
  std::vector<Published> published;  ///< published values of this setting with this backend
  std::optional<Trace> trace;        ///< only if requested, in the last repeat
  Machine machine;
  /// None if no trial ran, and in records of earlier versions.
  std::optional<TrialProcess> process;
  /// None if no trial ran, and in records of earlier versions.
  std::optional<Conditions> conditions;
  std::string time;  ///< end of the trial in UTC: 2026-01-31T12:00:00Z
};

/// Returns the record of a trial before it runs, with everything but the outcome.
Record describe_trial(const Plan& plan, const PlannedFit& fit, std::int64_t repeat,
                      const std::string& run, const Machine& machine);

/// Returns the record of a planned fit that does not run because it is skipped or the run was
/// interrupted.
Record describe_unrun(const Plan& plan, const PlannedFit& fit, const std::string& run,
                      const Machine& machine);

/// Removes the records of a planned fit that `next` supersedes: a last record that was cancelled,
/// since it stands for the trials run later, and a failure of the same trial, which was run again.
/// `Trial` has the members `status` and `repeat`.
template <class Trial>
void drop_superseded(std::vector<Trial>& fit, const Trial& next) {
  if (!fit.empty() && fit.back().status == TrialStatus::cancelled) fit.pop_back();
  std::erase_if(fit, [&next](const Trial& trial) {
    return is_failure(trial.status) && trial.repeat == next.repeat;
  });
}

nlohmann::ordered_json to_json(const Record& record);
/// Throws InputError, with key and reason, if the JSON is no record of this schema. Ignores unknown
/// keys.
Record record_from_json(const nlohmann::ordered_json& json);

/// True if an incomplete last line that is not JSON can be the remains of a record after a kill or
/// a power cut: a record's beginning, or zero bytes. Any other line was written by another program
/// and must be kept.
bool is_torn_record(std::string_view line);

/// The current time in UTC, to the second.
std::string timestamp();
/// Returns a new run identifier: time, process and 32 random bits, in hexadecimal digits.
std::string make_run_id();

}  // namespace lloyd::experiment
