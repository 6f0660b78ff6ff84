// Plan: what an experiment will run, what it will skip and why, and the memory it will take.
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

struct PlannedSetting {
  Setting setting;  ///< with the centroids of a seeding file
  DatasetFacts dataset;
  std::string hash;  ///< of all that defines the setting; 16 hexadecimal digits
};

/// All repeats of one setting with one variant.
struct PlannedFit {
  std::size_t setting = 0;
  std::size_t variant = 0;
  std::string skip;  ///< why it will be skipped; empty when it will run
  /// At the peak, the data set, the initial centroids of all restarts and the results included;
  /// nothing when it is skipped.
  std::optional<MemoryEstimate> memory;
  std::vector<Published> published;
};

struct Plan {
  std::string experiment;
  std::filesystem::path output;
  std::int64_t repeats = 1;
  std::optional<Until> until;    ///< further rounds after these
  std::uint64_t order_seed = 0;  ///< see trial_order.hpp
  Isolation isolation;
  bool trace = false;  ///< each fit leaves a trace, see tracing_runner.hpp
  std::vector<PlannedSetting> settings;
  std::vector<Variant> variants;
  std::optional<std::size_t> baseline;  ///< index of a variant
  std::vector<PlannedFit> fits;         ///< by setting, then variant: every pair
  std::string hash;  ///< of settings, variants, repeats, until, order_seed, baseline; 16 hex digits

  std::int64_t trials() const;  ///< that will run; with `until` at least so many
  std::int64_t skipped() const;
  const PlannedFit& fit(std::size_t setting, std::size_t variant) const {
    return fits[setting * variants.size() + variant];
  }
};

/// Pairs of setting and variant that a plan may have: it and its records are held in memory.
inline constexpr std::size_t kMaxFits = 1'000'000;

/// Told how many of how many pairs of setting and variant have been planned.
using PlanProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// Loads backends, reads data and centroid files, and looks at every pair of setting and variant.
/// Throws InputError for whatever is wrong in the experiment.
Plan make_plan(const Experiment& experiment, const BackendLoader& load, DatasetCache& datasets,
               const Machine& machine, const PlanProgress& progress = {});

/// One line for each optional backend whose plugin cannot be loaded: which and why.
std::vector<std::string> missing_backends(const Plan& plan);

/// Throws InputError when something would be skipped.
void require_all(const Plan& plan);

}  // namespace lloyd::experiment
