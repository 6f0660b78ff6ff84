// RankScope: this process as one rank of a job.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <lloyd/internal/ranks.hpp>
#include <lloyd/internal/timed_communicator.hpp>
#include <lloyd/launched_ranks.hpp>

namespace lloyd::apps {

/// False if the variables of a launcher name this process as another rank than the first. Does not
/// join the ranks.
bool is_first_launched() noexcept;

/// Joins the ranks of a job, and leaves them on destruction. Only rank 0 prints messages; if the
/// communicator fails, the rank chosen by reports_failure() prints the error and the phase.
class RankScope {
 public:
  /// Collective. `job`: none for a process that is the only rank. `timeout`: see
  /// Communicator::set_timeout(). Throws as join_ranks().
  RankScope(const std::optional<LaunchedJob>& job, double timeout);
  RankScope(const RankScope&) = delete;
  RankScope& operator=(const RankScope&) = delete;

  /// For Dataset::part(); null for the only rank. A TimedCommunicator, which measures the fits.
  std::shared_ptr<Communicator> communicator() const { return communicator_; }
  /// The times of all fits of this rank so far; zero for the only rank.
  RankFitTimes fit_times() const {
    return communicator_ == nullptr ? RankFitTimes() : communicator_->fit_times();
  }
  const Ranks& ranks() const { return ranks_; }
  bool is_first() const { return ranks_.rank() == 0; }

  /// Names what the ranks do from now on, such as "while reading the data", for messages about a
  /// rank that ends or hangs.
  void enter(std::string_view phase) noexcept;

  /// Runs `body` on all ranks. Returns its result on rank 0, and kDone on the others: the first
  /// rank that fails makes the launcher end all others. `body` must throw lloyd::Error on all ranks
  /// or on none, unless the communicator fails. Rank 0 rethrows exceptions, the others only
  /// failures of the communicator.
  int run(const std::function<int()>& body) const;

 private:
  [[noreturn]] void rethrow_with_phase() const;

  std::shared_ptr<TimedCommunicator> communicator_;
  Ranks ranks_;
  std::string name_;              // of this rank, for messages
  std::array<char, 96> phase_{};  // zero-terminated
};

}  // namespace lloyd::apps
