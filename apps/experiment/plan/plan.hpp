// Plan: the trials that an experiment will run, those it skips and why, and their memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiment/config/config.hpp"
#include "experiment/config/variants.hpp"
#include "experiment/environment/machine.hpp"
#include "experiment/plan/dataset_cache.hpp"

namespace lloyd::experiment {

/// A setting and the properties of its data set.
struct PlannedSetting {
  Setting setting;  ///< includes the centroids of a seeding file
  DatasetFacts dataset;
  std::string hash;  ///< hash of everything that defines the setting; 16 hexadecimal digits
};

/// All repeats of one setting with one variant.
struct PlannedFit {
  std::size_t setting = 0;
  std::size_t variant = 0;
  std::string skip;  ///< why the fit does not run; empty if it runs
  /// Peak memory, including the data set, the initial centroids of all restarts and the results;
  /// none if the fit does not run.
  std::optional<MemoryEstimate> memory;
  std::vector<Published> published;
  bool failed = false;  ///< its backend failed in supports() or estimate(), as `skip` says
};

struct Plan {
  std::string experiment;
  std::filesystem::path output;
  std::int64_t repeats = 1;
  std::optional<Until> until;    ///< rule for further rounds after the repeats
  std::uint64_t order_seed = 0;  ///< see trial_order.hpp
  Checks checks;
  bool silhouette = false;       ///< compute the simplified silhouette of each checked result
  bool counters = false;         ///< read the processor's counters in each timed fit
  bool repeat_throttled = true;  ///< see MonitoredRunner
  Isolation isolation;
  Launch launch;
  /// Folders that ranks search for communicator plugins.
  std::vector<std::filesystem::path> plugin_folders;
  bool trace = false;  ///< record a trace of each fit, see tracing_runner.hpp
  std::vector<PlannedSetting> settings;
  std::vector<Variant> variants;
  std::optional<std::size_t> baseline;  ///< index of a variant
  std::vector<PlannedFit> fits;         ///< every pair, by setting, then by variant
  std::string hash;  ///< of settings, variants, repeats, until, order_seed, baseline; 16 hex digits

  std::int64_t trials() const;  ///< number of trials that will run; a lower bound with `until`
  std::int64_t skipped() const;
  const PlannedFit& fit(std::size_t setting, std::size_t variant) const {
    return fits[setting * variants.size() + variant];
  }
};

/// Maximum number of pairs of setting and variant: the plan and its records are held in memory.
inline constexpr std::size_t kMaxFits = 1'000'000;

/// Called with the number of pairs of setting and variant that have been planned, and their total.
using PlanProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// Loads backends, reads data and centroid files, and checks every pair of setting and variant.
/// `plugin_folders`: see Plan; fits on ranks are skipped if they have no communicator plugin.
/// Throws InputError for any error in the experiment.
Plan make_plan(const Experiment& experiment, const BackendLoader& load, DatasetCache& datasets,
               const Machine& machine, const PlanProgress& progress = {},
               const std::vector<std::filesystem::path>& plugin_folders = {});

/// The hash of this plan with another number of repeats.
std::string hash_with_repeats(const Plan& plan, std::int64_t repeats);

/// Returns one line, with name and reason, for each optional backend whose plugin cannot be loaded.
std::vector<std::string> missing_backends(const Plan& plan);

/// Throws InputError if any fit would be skipped.
void require_all(const Plan& plan);

}  // namespace lloyd::experiment
