// FitCheckpoints: writes the checkpoints of a fit, and reads the one from which it is resumed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>
#include <lloyd/fit/checkpoint.hpp>
#include <lloyd/internal/ranks.hpp>

#include "checkpoint/checkpoint_folder.hpp"
#include "checkpoint/fit_state.hpp"

namespace lloyd {

/// Throws InputError for intervals out of range, and for options that would have no effect.
void check_checkpoint_options(const CheckpointOptions& checkpoints);

/// The checkpoints of all restarts of one fit. As the observer of a restart, it counts the
/// iterations before the checkpoint too, and forwards the records to another observer.
///
/// A checkpoint has the centroids before the last finished iteration i. The fit that starts from
/// them repeats iteration i, in which it counts all labels as changed; so the stop rule `labels`
/// applies from iteration i + 1 on, with the labels of iteration i. That is right since iteration i
/// did not stop the uninterrupted fit.
class FitCheckpoints final : public Observer {
 public:
  /// Collective on the ranks of the data set; rank 0 reads and writes. `observer` may be null. All
  /// arguments must outlive this object. Throws InputError if the folder does not exist and, unless
  /// the fit is to be resumed, if it has a checkpoint.
  FitCheckpoints(const BackendSession& session, const FitOptions& options,
                 const CheckpointOptions& checkpoints, Observer* observer);

  /// The checkpoint from which the fit is resumed, if there is one; collective. Throws InputError
  /// if it is damaged or of another fit. Only rank 0 has `notes` and
  /// `seeding_backend` of the best restart.
  std::optional<CheckpointContent> load();

  /// The options for the rest of a restart that begins in `state`.
  FitOptions options_from(const FitState& state) const;
  /// Begins a restart. `loaded`: whether the checkpoint has this state. `best`: of the earlier
  /// restarts, null if there is none; must outlive the restart.
  void begin(const FitState& state, bool loaded, const Fit* best);
  /// Adds the iterations before the checkpoint to the result of the rest of a restart.
  void complete(Fit& fit) const;
  /// Ends a restart that was not cancelled. `best`: of all restarts so far.
  void end(const Fit& best);
  /// Writes the state of a cancelled fit, unless it has been written.
  void save();
  /// The first error of writing a checkpoint; empty if there was none.
  const std::string& error() const { return error_; }

  bool on_iteration(const IterationRecord& record) noexcept override;
  bool stop_requested() const noexcept override;
  void* query(const char* name) noexcept override;

 private:
  using Clock = std::chrono::steady_clock;

  void broadcast(CheckpointContent& content) const;
  void advance(const IterationRecord& record, std::int64_t iteration);
  void save_if_due(bool iteration_is_due);

  const FitOptions& options_;
  const CheckpointOptions& checkpoints_;
  Observer* observer_;
  Ranks ranks_;
  double mean_variance_;
  std::int64_t values_;  // k * d
  CheckpointFolder folder_;
  FitSpec spec_;                   // of the current restart
  FitState begin_;                 // where the current restart began, without centroids
  FitState state_;                 // what the next checkpoint holds
  std::int64_t relocations_ = 0;   // of the current restart, including the last iteration
  std::vector<double> centroids_;  // after the last iteration
  const Fit* best_ = nullptr;
  bool saved_ = true;                      // false if the folder lacks state_
  std::string error_;                      // the first one, of which the caller was warned
  std::optional<Clock::time_point> last_;  // when a checkpoint was last tried
};

}  // namespace lloyd
