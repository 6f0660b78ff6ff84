// FitDigest: what a summary needs of the records of one planned fit.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/record/record.hpp"

namespace lloyd::experiment {

/// What differs between the trials of one planned fit: some 100 bytes, where a record takes some
/// thousands. Milliseconds; measurements hold for trials that count.
struct TrialDigest {
  explicit TrialDigest(const Record& record);

  /// Whether the trial succeeded, so that its measurements count.
  bool counts() const { return measured && status == TrialStatus::ok; }
  bool is_profiled() const { return counts() && extras && extras->phases.assignment_ms >= 0; }
  /// Empty for a trial that succeeded.
  const std::string& reason() const;
  /// Null for a trial without a GPU.
  const GpuConditions* gpu() const { return extras && extras->gpu ? &*extras->gpu : nullptr; }

  /// What few trials have.
  struct Extras {
    std::string reason;
    PhaseTimes phases;
    std::optional<GpuConditions> gpu;
  };

  TrialStatus status;
  bool measured = false;         ///< has the results of a fit
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
  std::int64_t own_threads = 0;  ///< at most that many threads of the run wanted a processor
  std::shared_ptr<const Extras> extras;
};

/// The records of one planned fit. What they have in common is that of the first one.
struct FitDigest {
  FitDigest() = default;
  explicit FitDigest(const Record& first);
  /// At least one record.
  explicit FitDigest(const std::vector<Record>& records);

  /// What belongs to the fit rather than to the trial of a record that is added to `trials`.
  void note(const Record& record);

  std::string experiment;
  std::string setting;  ///< Record::setting
  std::int64_t plan_setting = 0;
  std::int64_t repeats = 1;  ///< planned
  bool until = false;        ///< there may be more
  std::string baseline;      ///< label of the baseline; empty: none
  std::vector<AxisValue> axes;
  std::string backend;   ///< label of the variant
  std::string accuracy;  ///< as stated; empty where the plugin is missing
  std::int64_t samples = 0;
  std::int64_t features = 0;
  std::string dtype;
  std::int64_t clusters = 0;
  std::int64_t restarts = 1;
  std::vector<Published> published;
  std::optional<AfterOne> after_one;  ///< of the last trial that counts and has it
  std::vector<TrialDigest> trials;
};

/// One for each list of records.
std::vector<FitDigest> digests_of(const std::vector<std::vector<Record>>& records);

}  // namespace lloyd::experiment
