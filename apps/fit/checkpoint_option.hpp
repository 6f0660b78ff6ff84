// CheckpointOption: --checkpoint, --checkpoint-every and --resume of `lloyd fit`.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include <lloyd/fit.hpp>
#include <lloyd/fit/checkpoint.hpp>

namespace lloyd::apps {

class FitProgress;

/// Filled by the command line's parser.
struct CheckpointOption {
  std::string folder;  // empty: no checkpoints
  std::string every = "60s";
  bool resume = false;

  /// Adds the options.
  void add_to(CLI::App& command);
  /// Makes the folder's path absolute. Throws InputError.
  void complete();
  /// Creates the folder. Throws InputError if that fails, and if the folder has a checkpoint that
  /// is not to be resumed.
  void prepare() const;
  /// For a fit whose progress goes to `progress`, which must outlive the options. `standardize`:
  /// whether the samples are standardized.
  CheckpointOptions options(FitProgress& progress, bool standardize) const;
  /// Memory that checkpoints take, in bytes; 0 without a folder.
  std::int64_t bytes(std::int64_t clusters, std::int64_t features) const;
  /// After the results of a fit were delivered: removes the checkpoint, unless the fit could be
  /// resumed, and notes how.
  void finish(const FitOptions& options, const Fit& fit) const;
};

}  // namespace lloyd::apps
