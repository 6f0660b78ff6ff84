// RankTrials: runs trials on several ranks, which a launcher starts.
#pragma once

#include <filesystem>
#include <string>

#include "experiment/plan/plan.hpp"
#include "experiment/ranks/rank_job.hpp"
#include "experiment/record/record.hpp"
#include "experiment/trial/trial_work.hpp"
#include "process/scratch_folder.hpp"

namespace lloyd::experiment {

/// Every trial has its own launcher, whose processes make an untimed fit of one iteration, then the
/// timed fit. The result is checked in this process. Files are exchanged in a temporary folder
/// within the folder of the records, which all ranks must be able to reach.
class RankTrials {
 public:
  /// `plan` must outlive this object. Throws Error if the folder cannot be made.
  explicit RankTrials(const Plan& plan);

  /// Runs one trial; `work` describes it, with the data set and the initial centroids in this
  /// process. Sets rank_times of the record, and its status after a time-out. If the observer
  /// requests to stop, the outcome is cancelled. Throws Error if the trial cannot be started.
  TrialOutcome run(const PlannedFit& fit, const TrialWork& work, Observer& observer,
                   Record& record);

 private:
  void describe_data(const DatasetSetting& setting, const Dataset& dataset, RankJob& job);
  void write_inputs(const PlannedFit& fit, const TrialWork& work, const RankFiles& files);
  void launch(const std::filesystem::path& folder, std::int64_t ranks, const Observer& observer,
              Record& record) const;

  const Plan& plan_;
  apps::ScratchFolder scratch_;
  std::string exported_key_;  ///< key of the data set that was written to the folder
};

}  // namespace lloyd::experiment
