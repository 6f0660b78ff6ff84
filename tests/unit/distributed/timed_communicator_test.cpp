// Times of the fits of ranks.
#include <chrono>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/internal/timed_communicator.hpp>

#include "fit/rank_times.hpp"
#include "unit/support/run_ranks.hpp"

namespace lloyd {
namespace {

// Rank 1 of 3, whose operations take two milliseconds at least.
class SlowCommunicator final : public Communicator {
 public:
  std::int32_t rank() const noexcept override { return 1; }
  std::int32_t size() const noexcept override { return 3; }
  Status all_reduce(const ReduceRequest& request) noexcept override {
    *static_cast<std::int64_t*>(request.data) = 7;
    return operate();
  }
  Status broadcast(void*, std::int64_t, std::int32_t) noexcept override { return operate(); }
  Status all_gather(const void*, std::int64_t, void*) noexcept override { return operate(); }
  Status barrier() noexcept override {
    operate();
    return Status::error(StatusCode::unavailable, "the network is down");
  }
  void set_timeout(double seconds) noexcept override { timeout = seconds; }
  void progress() noexcept override { ++progresses; }
  void abort(const char*) noexcept override { ++aborts; }
  bool reports_failure() noexcept override { return true; }
  void* query(const char* name) noexcept override {
    return std::string_view(name) == "mine" ? this : nullptr;
  }
  void release() noexcept override {}

  double timeout = 0;
  int progresses = 0;
  int aborts = 0;

 private:
  static Status operate() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return {};
  }
};

TEST(TimedCommunicator, CallsArePassedOn) {
  const auto slow = std::make_shared<SlowCommunicator>();
  TimedCommunicator timed(slow);
  EXPECT_EQ(timed.rank(), 1);
  EXPECT_EQ(timed.size(), 3);
  std::int64_t value = 0;
  ReduceRequest request;
  request.data = &value;
  request.count = 1;
  EXPECT_TRUE(timed.all_reduce(request).ok());
  EXPECT_EQ(value, 7);
  EXPECT_STREQ(timed.barrier().message, "the network is down");
  timed.set_timeout(3);
  timed.progress();
  timed.abort("why");
  EXPECT_EQ(slow->timeout, 3);
  EXPECT_EQ(slow->progresses, 1);
  EXPECT_EQ(slow->aborts, 1);
  EXPECT_TRUE(timed.reports_failure());
  EXPECT_EQ(timed.query("mine"), slow.get());
  EXPECT_EQ(timed.query("other"), nullptr);
}

TEST(TimedCommunicator, OnlyOperationsOfFitsCount) {
  TimedCommunicator timed(std::make_shared<SlowCommunicator>());
  timed.broadcast(nullptr, 0, 0);
  EXPECT_EQ(timed.fit_times().ms, 0);
  EXPECT_EQ(timed.fit_times().communication_ms, 0);
  {
    const TimedCommunicator::FitTimer timer(&timed);
    timed.broadcast(nullptr, 0, 0);
    timed.all_gather(nullptr, 0, nullptr);
    timed.barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const RankFitTimes once = timed.fit_times();
  EXPECT_GE(once.communication_ms, 6);
  EXPECT_GE(once.ms, once.communication_ms + 2);
  timed.barrier();
  EXPECT_EQ(timed.fit_times().communication_ms, once.communication_ms);
  {
    const TimedCommunicator::FitTimer timer(&timed);
    timed.barrier();
  }
  EXPECT_GE(timed.fit_times().communication_ms, once.communication_ms + 2);
}

TEST(TimedCommunicator, OtherCommunicatorsAreNotMeasured) {
  SlowCommunicator slow;
  const TimedCommunicator::FitTimer timer(&slow);
  const TimedCommunicator::FitTimer none(nullptr);
}

TEST(RankTimes, AreGatheredFromAllRanks) {
  run_ranks(3, [](const std::shared_ptr<Communicator>& communicator) {
    const Ranks ranks(communicator);
    const std::vector<RankFitTimes> times = {{10, 1}, {20, 2}, {30, 12}};
    const apps::RankTimes all =
        apps::gather_times(times[static_cast<std::size_t>(ranks.rank())], ranks);
    EXPECT_EQ(all.hosts.size(), 3u);
    EXPECT_FALSE(all.hosts[0].empty());
    EXPECT_EQ(all.max_communication_ms, 12);
    EXPECT_EQ(all.mean_communication_ms, 5);
    EXPECT_EQ(all.communication_share, 0.25);
    EXPECT_EQ(all.imbalance, 1.2);  // compute times 9, 18, 18
    EXPECT_EQ(apps::rank_times_text(all),
              "25.0 % of the fit, at most 12 ms on a rank; compute imbalance 1.20");
  });
}

TEST(RankTimes, OneRankDoesNotCommunicate) {
  const apps::RankTimes alone = apps::gather_times({}, Ranks());
  EXPECT_EQ(alone.hosts.size(), 1u);
  EXPECT_EQ(alone.communication_share, 0);
  EXPECT_EQ(alone.imbalance, 1);
}

}  // namespace
}  // namespace lloyd
