// FitDigest: the part of a planned fit's records that a summary needs.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/record/record.hpp"

namespace lloyd::experiment {

/// The values that differ between trials of one planned fit: about 100 bytes, while a record takes
/// some thousands. Times are in milliseconds; measurements are valid only if counts().
struct TrialDigest {
  explicit TrialDigest(const Record& record);

  /// True if the trial succeeded and has measurements.
  bool counts() const { return measured && status == TrialStatus::ok; }
  bool is_profiled() const { return counts() && extras && extras->phases.assignment_ms >= 0; }
  /// Why the trial did not succeed; empty if it did.
  const std::string& reason() const;
  /// Returns null for a trial without a GPU.
  const GpuConditions* gpu() const { return extras && extras->gpu ? &*extras->gpu : nullptr; }

  /// Rarely used values, stored apart to save memory.
  struct Extras {
    std::string reason;
    PhaseTimes phases;
    std::optional<GpuConditions> gpu;
    std::optional<machine::CpuCounts> counters;
    std::int64_t clusters_empty = 0;
  };

  TrialStatus status;
  bool measured = false;         ///< the record holds the results of a fit
  bool skips_distances = false;  ///< evaluated fewer than samples x clusters in each iteration
  bool has_conditions = false;
  std::int64_t repeat;
  std::int64_t iterations = 0;
  double inertia = std::numeric_limits<double>::quiet_NaN();
  double loop_ms = 0;
  double closing_ms = 0;
  double fit_ms = 0;
  double load = -1;              ///< MachineState::load before the trial
  double cpu_mhz = 0;            ///< MachineState::cpu_mhz after it
  std::int64_t own_threads = 0;  ///< maximum number of threads of the run that wanted a processor
  std::shared_ptr<const Extras> extras;
};

/// A key of the data set or the fit, see changed_settings().
struct ChangedSetting {
  std::string path;                      ///< as in an experiment file: "dataset.standardize"
  nlohmann::ordered_json value;          ///< differs from the default
  nlohmann::ordered_json default_value;  ///< null if the key has none
  bool operator==(const ChangedSetting&) const = default;
};

/// The settings of the data set and the fit that differ from their defaults, without the file,
/// the size of the data, the number of clusters, and the seed of the seeding.
std::vector<ChangedSetting> changed_settings(const Record& record);

/// The digest of one planned fit. The values that all records share are those of the first.
struct FitDigest {
  FitDigest() = default;
  explicit FitDigest(const Record& first);
  /// At least one record.
  explicit FitDigest(const std::vector<Record>& records);

  /// Updates the values of the fit itself from a record whose trial is added to `trials`.
  void note(const Record& record);

  std::string experiment;
  std::string setting;  ///< Record::setting
  std::int64_t plan_setting = 0;
  std::int64_t repeats = 1;  ///< planned repeats, the largest number of any record
  bool until = false;        ///< there may be more rounds
  std::string baseline;      ///< label of the baseline variant; empty: none
  std::vector<AxisValue> axes;
  std::string backend;     ///< label of the variant
  std::string accuracy;    ///< as the backend states it; empty if the plugin is missing
  bool canonical = false;  ///< the backend states that it returns the bits of the reference
  std::string dataset;     ///< name of the data set
  std::int64_t samples = 0;
  std::int64_t features = 0;
  std::string dtype;
  std::int64_t clusters = 0;
  std::optional<std::uint64_t> seed;  ///< of the seeding; none if its method uses none
  std::int64_t restarts = 1;
  std::vector<ChangedSetting> changed;
  std::int64_t ranks = 0;  ///< Record::ranks
  std::vector<Published> published;
  std::string cpu;                    ///< Machine::cpu
  std::string commit;                 ///< Machine::commit
  std::string time;                   ///< Record::time of the first record
  std::optional<AfterOne> after_one;  ///< from the last successful trial that has it
  /// From the last successful trial that has it, see Measurements; NaN if none has.
  double adjusted_rand_index = std::numeric_limits<double>::quiet_NaN();
  double simplified_silhouette = std::numeric_limits<double>::quiet_NaN();
  std::vector<TrialDigest> trials;
};

std::vector<FitDigest> digests_of(const std::vector<std::vector<Record>>& records);

}  // namespace lloyd::experiment
