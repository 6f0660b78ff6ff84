// TimedCommunicator: measures how much of a rank's fit time is communication.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include <lloyd/plugin/abi/communicator.hpp>

namespace lloyd {

/// Times of the fits of one rank, wall time in milliseconds.
struct RankFitTimes {
  double ms = 0;                ///< all fits
  double communication_ms = 0;  ///< collective operations in them, including waits for other ranks
};

/// Passes all calls on to another communicator, and adds up the time of the collective ones. The
/// session of a data set that is spread over such a communicator measures its fits with it.
class TimedCommunicator final : public Communicator {
 public:
  /// Name with which query() returns this object.
  static constexpr const char* kInterface = "lloyd.timed_communicator";

  /// `communicator` is not null.
  explicit TimedCommunicator(std::shared_ptr<Communicator> communicator)
      : communicator_(std::move(communicator)) {}

  /// The times of all fits so far. Read them on the thread that fits.
  const RankFitTimes& fit_times() const { return fit_times_; }

  /// Adds its own lifetime to the fit times.
  class FitTimer {
   public:
    /// `communicator`: of the fit; nothing is measured unless it is a TimedCommunicator.
    explicit FitTimer(Communicator* communicator);
    ~FitTimer();
    FitTimer(const FitTimer&) = delete;
    FitTimer& operator=(const FitTimer&) = delete;

   private:
    TimedCommunicator* timed_ = nullptr;
    double communication_before_ms_ = 0;
    std::chrono::steady_clock::time_point begin_;
  };

  std::int32_t rank() const noexcept override { return communicator_->rank(); }
  std::int32_t size() const noexcept override { return communicator_->size(); }
  Status all_reduce(const ReduceRequest& request) noexcept override;
  Status broadcast(void* bytes, std::int64_t count, std::int32_t root) noexcept override;
  Status all_gather(const void* mine, std::int64_t bytes, void* all) noexcept override;
  Status barrier() noexcept override;
  void set_timeout(double seconds) noexcept override { communicator_->set_timeout(seconds); }
  void progress() noexcept override { communicator_->progress(); }
  void abort(const char* message) noexcept override { communicator_->abort(message); }
  bool reports_failure() noexcept override { return communicator_->reports_failure(); }
  void* query(const char* interface_name) noexcept override;
  /// No effect: the other communicator is released by its last owner.
  void release() noexcept override {}

 private:
  std::shared_ptr<Communicator> communicator_;
  double communication_ms_ = 0;  // of all collective operations
  RankFitTimes fit_times_;
};

}  // namespace lloyd
