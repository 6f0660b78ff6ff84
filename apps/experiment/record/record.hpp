// Record: what a trial leaves; one JSON object a line in records.jsonl.
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

namespace lloyd::experiment {

/// Version of the record's keys.
inline constexpr int kRecordSchema = 1;

/// Bytes of a line of records.jsonl at the most: some hundred times those of the longest record.
/// What is longer is refused before it is read.
inline constexpr std::int64_t kMaxRecordBytes = std::int64_t{64} << 20;

enum class TrialStatus { ok, skipped, failed, timed_out, cancelled };
std::string_view to_string(TrialStatus status);
/// Whether a trial ran and went wrong, in whatever way.
constexpr bool is_failure(TrialStatus status) {
  return status != TrialStatus::ok && status != TrialStatus::skipped &&
         status != TrialStatus::cancelled;
}
/// Throws InputError for an unknown name, with the known ones.
TrialStatus parse_trial_status(std::string_view name);

struct Record {
  std::string experiment;
  std::string run;      ///< the same in all records of one run of `lloyd run`
  std::string setting;  ///< PlannedSetting::hash
  std::vector<AxisValue> axes;

  /// Where the trial stands among all that the run planned: every setting with every variant.
  struct {
    std::int64_t setting = 0;  ///< in [0, settings)
    std::int64_t settings = 1;
    std::int64_t variant = 0;  ///< in [0, variants)
    std::int64_t variants = 1;
    std::int64_t repeats = 1;
    std::optional<Until> until;               ///< more than `repeats` are made then
    std::optional<std::uint64_t> order_seed;  ///< nothing in records of earlier versions
    std::string baseline;  ///< label of the variant that others are compared to; empty: none
    std::string hash;      ///< Plan::hash; empty in records of earlier versions
  } plan;

  struct {
    std::string name;
    std::string label;    ///< the name, and the parameters in which variants of one backend differ
    std::string version;  ///< this and what follows is empty where the plugin is missing, but for
                          ///< the parameters that the experiment names
    nlohmann::ordered_json parameters;  ///< an object, name to value
    std::string accuracy;               ///< stated, of labels on this data set's dtype
    std::string reproducibility;
    std::vector<std::string> devices;
  } backend;

  struct {
    std::string name;
    std::int64_t samples = 0;
    std::int64_t features = 0;
    std::string dtype;
    std::string fingerprint;  ///< empty where the data was never made
    nlohmann::ordered_json source;
  } dataset;

  std::int64_t clusters = 0;
  struct {
    std::string method;
    std::uint64_t seed = 0;
    std::string file;                    ///< empty but for method `file`
    std::optional<double> oversampling;  ///< of method `k-means||`
    std::optional<std::int64_t> rounds;  ///< likewise
    std::optional<double> ms;            ///< all restarts; done once for all backends of a setting
  } seeding;
  std::int64_t restarts = 1;
  nlohmann::ordered_json stop;
  std::string empty_clusters;
  bool profile = false;
  /// Where the trial ran and what it was held to; nothing in records of earlier versions.
  std::optional<Isolation> isolation;

  std::int64_t repeat = 0;            ///< 0, 1, ...: the round
  std::optional<std::int64_t> order;  ///< place among the trials of its setting, from 0; nothing
                                      ///< where none ran, and in records of earlier versions
  TrialStatus status = TrialStatus::ok;
  std::string reason;  ///< empty for `ok`; "not run" where an interrupted run did not come to it
  /// Of the process that the trial ran in: from its start until the plugin was loaded. Nothing
  /// where that is the process of `lloyd run`.
  std::optional<double> start_ms;
  /// What went wrong after the outcome, when session or backend were released; empty: nothing.
  std::string release_failure;
  std::optional<Measurements> fit;
  std::optional<AfterOne> after_one;
  std::optional<MemoryEstimate> memory;
  std::vector<Published> published;  ///< of this setting with this backend
  std::optional<Trace> trace;        ///< where one was asked for, of the last repeat
  Machine machine;
  std::optional<TrialProcess> process;   ///< none where no trial was run, as the next
  std::optional<Conditions> conditions;  ///< none in records of earlier versions, as the one above
  std::string time;                      ///< when the trial ended, in UTC: 2026-01-31T12:00:00Z
};

/// The record of a trial before it has run: all but its outcome.
Record describe_trial(const Plan& plan, const PlannedFit& fit, std::int64_t repeat,
                      const std::string& run, const Machine& machine);

/// The record of a planned fit that is not run: skipped, or left out by a run that was interrupted.
Record describe_unrun(const Plan& plan, const PlannedFit& fit, const std::string& run,
                      const Machine& machine);

/// Takes out of the records of a planned fit those that another record of it supersedes: a last one
/// that was cancelled, which stands for what is run later, and a failure of the same trial, which
/// was made again.
/// `Trial` has the members `status` and `repeat`.
template <class Trial>
void drop_superseded(std::vector<Trial>& fit, const Trial& next) {
  if (!fit.empty() && fit.back().status == TrialStatus::cancelled) fit.pop_back();
  std::erase_if(fit, [&next](const Trial& trial) {
    return is_failure(trial.status) && trial.repeat == next.repeat;
  });
}

nlohmann::ordered_json to_json(const Record& record);
/// Throws InputError, with the key and what is wrong, when this is no record of this schema. Keys
/// that the schema does not have are passed over.
Record record_from_json(const nlohmann::ordered_json& json);

/// Whether a last line without its line feed, which is no JSON, can be what a process that was
/// killed or a power cut left of a record: its beginning, or bytes of zero. Anything else was
/// written by others and is not to be dropped.
bool is_torn_record(std::string_view line);

/// Now, in UTC, to the second.
std::string timestamp();
/// A new identifier of a run: the time, the process and 32 random bits, in hexadecimal digits.
std::string make_run_id();

}  // namespace lloyd::experiment
