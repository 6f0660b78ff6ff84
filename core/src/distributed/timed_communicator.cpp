#include <lloyd/internal/timed_communicator.hpp>

#include <string_view>

namespace lloyd {
namespace {

using Clock = std::chrono::steady_clock;

double elapsed_ms(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Adds its own lifetime to a number of milliseconds.
class CallTimer {
 public:
  explicit CallTimer(double& ms) : ms_(ms) {}
  ~CallTimer() { ms_ += elapsed_ms(begin_); }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

 private:
  double& ms_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

TimedCommunicator::FitTimer::FitTimer(Communicator* communicator) {
  if (communicator == nullptr) return;
  timed_ = static_cast<TimedCommunicator*>(communicator->query(kInterface));
  if (timed_ == nullptr) return;
  communication_before_ms_ = timed_->communication_ms_;
  begin_ = Clock::now();
}

TimedCommunicator::FitTimer::~FitTimer() {
  if (timed_ == nullptr) return;
  timed_->fit_times_.ms += elapsed_ms(begin_);
  timed_->fit_times_.communication_ms += timed_->communication_ms_ - communication_before_ms_;
}

Status TimedCommunicator::all_reduce(const ReduceRequest& request) noexcept {
  const CallTimer timer(communication_ms_);
  return communicator_->all_reduce(request);
}

Status TimedCommunicator::broadcast(void* bytes, std::int64_t count, std::int32_t root) noexcept {
  const CallTimer timer(communication_ms_);
  return communicator_->broadcast(bytes, count, root);
}

Status TimedCommunicator::all_gather(const void* mine, std::int64_t bytes, void* all) noexcept {
  const CallTimer timer(communication_ms_);
  return communicator_->all_gather(mine, bytes, all);
}

Status TimedCommunicator::barrier() noexcept {
  const CallTimer timer(communication_ms_);
  return communicator_->barrier();
}

void* TimedCommunicator::query(const char* interface_name) noexcept {
  if (std::string_view(interface_name) == kInterface) return this;
  return communicator_->query(interface_name);
}

}  // namespace lloyd
