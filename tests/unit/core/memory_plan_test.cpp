// plan_memory: in memory, in blocks, or infeasible.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/memory_plan.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>

#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

class MemoryPlans : public testing::Test {
 protected:
  MemoryPlan plan(std::int64_t limit, std::int64_t samples = 100'000'000) {
    ProblemShape shape;
    shape.samples = samples;
    shape.features = shape.stride = 16;
    shape.clusters = 32;
    options_.clusters = 32;
    return plan_memory("data", *backend_, shape, backend_->default_parameters(), options_, limit);
  }

  // A plan of 1000 x 8 samples within 64 MiB.
  MemoryPlan plan_beside(std::int64_t reading_bytes, std::int64_t output_bytes,
                         std::int64_t ranks_bytes = 0) {
    ProblemShape shape;
    shape.samples = 1000;
    shape.features = shape.stride = 8;
    shape.clusters = options_.clusters = 2;
    return plan_memory("data", *backend_, shape, backend_->default_parameters(), options_,
                       64 * kMiB, true, reading_bytes, output_bytes, ranks_bytes);
  }

  std::shared_ptr<const LoadedBackend> backend_ = fake::make<fake::FakeStep>("fake");
  FitOptions options_;
};

TEST_F(MemoryPlans, HoldWhatFits) {
  const MemoryPlan plan = this->plan(16384 * kMiB);
  EXPECT_EQ(plan.block_rows, 0);
  EXPECT_GT(plan.bytes, 6400 * 1000000LL);  // the data alone
  EXPECT_LE(plan.bytes, 16384 * kMiB);
  EXPECT_EQ(this->plan(plan.bytes).block_rows, 0);
}

TEST_F(MemoryPlans, TakeBlocksWhereTheWholeDoesNotFit) {
  const std::int64_t whole = plan(16384 * kMiB).bytes;
  const MemoryPlan plan = this->plan(whole - kMiB);
  EXPECT_EQ(plan.block_rows, 256 * kMiB / 64);
  EXPECT_LT(plan.bytes, whole);
  const MemoryPlan small = this->plan(plan.bytes - 256 * kMiB);
  EXPECT_GT(small.block_rows, 0);
  EXPECT_LT(small.block_rows, plan.block_rows);
  EXPECT_LE(small.bytes, plan.bytes - 256 * kMiB);
}

template <class T>
struct WindowPlanStep : RowStep<WindowPlanStep<T>, T> {
  using RowStep<WindowPlanStep<T>, T>::RowStep;
  std::int32_t label(const T*) const { return 0; }
  // Bounds of all samples.
  static std::int64_t estimate_bytes(const ProblemShape& shape, const ParameterList&) {
    return 8 * shape.samples;
  }
};
constexpr BackendInfo window_plan_info() {
  BackendInfo info = exact_step_info("windows");
  info.capabilities |= kCapabilityRowWindows;
  return info;
}
constexpr BackendInfo kWindowPlanInfo = window_plan_info();

TEST_F(MemoryPlans, TakeWindowsWhereTheMemoryOfTheBackendFits) {
  EXPECT_EQ(plan(4096 * kMiB).window_rows, 0);
  backend_ = std::make_shared<const LoadedBackend>("windows", make_plugin_header("windows", "1"),
                                                   new StepBackend<WindowPlanStep, kWindowPlanInfo>,
                                                   std::vector<DeviceInfo>(1), "");
  EXPECT_EQ(plan(16384 * kMiB).window_rows, 0);  // in memory
  const MemoryPlan plan = this->plan(4096 * kMiB);
  EXPECT_GT(plan.block_rows, 0);
  EXPECT_GT(plan.window_rows, 0);
  EXPECT_EQ(plan.window_rows % 1024, 0);
  EXPECT_LE(plan.window_rows, 512 * kMiB / 64);
  EXPECT_LE(plan.bytes, 4096 * kMiB);
  EXPECT_GT(plan.bytes, (8 + 4 + 4) * 100'000'000LL);  // bounds, labels, former labels
  // Smaller windows rather than none.
  const MemoryPlan smaller = this->plan(plan.bytes - 1);
  EXPECT_EQ(smaller.window_rows, plan.window_rows / 2);
  EXPECT_LT(smaller.bytes, plan.bytes);
  const MemoryPlan small = this->plan(1600'000'000);
  EXPECT_GT(small.block_rows, 0);
  EXPECT_EQ(small.window_rows, 0);
}

TEST_F(MemoryPlans, CountWhatARankTakesInAddition) {
  EXPECT_EQ(plan_beside(0, 0, 8 * kMiB).bytes, plan_beside(0, 0).bytes + 8 * kMiB);
  const std::string message = message_of<InputError>([&] { plan_beside(0, 0, 192 * kMiB); });
  EXPECT_NE(message.find("and 192.0 MiB those of combining the results of several ranks; the limit "
                         "is 64.0 MiB"),
            std::string::npos)
      << message;
  ProblemShape shape;
  shape.samples = 1'000'000;
  shape.features = shape.stride = 100;
  shape.clusters = 1000;
  const std::int64_t bytes = distributed_bytes(shape);
  EXPECT_GT(bytes, 100'000 * 160);  // sums and messages
  EXPECT_LT(bytes, 64 * kMiB);
  shape.clusters = 2000;
  EXPECT_EQ(distributed_bytes(shape), bytes + 100'000 * 160);
}

TEST_F(MemoryPlans, CountWhatReadingHolds) {
  EXPECT_EQ(plan_beside(16 * kMiB, 0).bytes, plan_beside(0, 0).bytes + 16 * kMiB);
  const std::string message = message_of<InputError>([&] { plan_beside(192 * kMiB, 0); });
  EXPECT_NE(
      message.find("and 192.0 MiB those of unpacking a chunk of the file; the limit is 64.0 MiB"),
      std::string::npos)
      << message;
}

TEST_F(MemoryPlans, CountOutputs) {
  EXPECT_EQ(plan_beside(0, 16 * kMiB).bytes, plan_beside(0, 0).bytes + 16 * kMiB);
  EXPECT_NE(message_of<InputError>([&] {
              plan_beside(0, 192 * kMiB);
            }).find("and 192.0 MiB those of the requested outputs; the limit is 64.0 MiB"),
            std::string::npos);
}

TEST_F(MemoryPlans, CountWhatSeedingAndRestartsHold) {
  options_.seeding.method = SeedingMethod::random;
  const std::int64_t random = plan(4096 * kMiB).bytes;
  options_.restarts = 2;
  EXPECT_EQ(plan(4096 * kMiB).bytes, random + 4 * 100'000'000);
  options_.restarts = 1;
  options_.seeding.method = SeedingMethod::kmeans_plus_plus;
  EXPECT_GE(plan(4096 * kMiB).bytes, random + 8 * 100'000'000);
}

// Gives an estimate that no data can need.
template <class T>
struct LargeEstimateStep : RowStep<LargeEstimateStep<T>, T> {
  using RowStep<LargeEstimateStep<T>, T>::RowStep;
  std::int32_t label(const T*) const { return 0; }
  static std::int64_t estimate_bytes(const ProblemShape&, const ParameterList&) {
    return std::int64_t{1} << 62;
  }
};
constexpr BackendInfo kLargeEstimateInfo = exact_step_info("a large estimate");

TEST_F(MemoryPlans, BlameABackendForItsEstimate) {
  backend_ = std::make_shared<const LoadedBackend>(
      "large", make_plugin_header("large", "1"),
      new StepBackend<LargeEstimateStep, kLargeEstimateInfo>, std::vector<DeviceInfo>(1), "");
  EXPECT_EQ(message_of<InputError>([&] { plan(100 * kMiB, 150); }),
            "data: the backend 'large' estimates that a fit of 150 samples of 16 features with 32 "
            "clusters takes 4398046511104.0 MiB of its memory; the limit is 100.0 MiB");
}

TEST_F(MemoryPlans, NameTheShareOfTheBackend) {
  backend_ = std::make_shared<const LoadedBackend>("windows", make_plugin_header("windows", "1"),
                                                   new StepBackend<WindowPlanStep, kWindowPlanInfo>,
                                                   std::vector<DeviceInfo>(1), "");
  ProblemShape shape;
  shape.samples = 1 << 20;  // 8 MiB of bounds, 64 of samples
  shape.features = shape.stride = 16;
  shape.clusters = options_.clusters = 2;
  const std::string message = message_of<InputError>([&] {
    plan_memory("data", *backend_, shape, backend_->default_parameters(), options_, 64 * kMiB,
                /*in_blocks=*/false);
  });
  EXPECT_NE(
      message.find("are the program's and 8.0 MiB those that the backend 'windows' estimates"),
      std::string::npos)
      << message;
}

TEST_F(MemoryPlans, RefuseShapesOutOfRange) {
  const auto refusal = [&](std::int64_t samples, std::int64_t features, std::int64_t clusters) {
    ProblemShape shape;
    shape.samples = samples;
    shape.features = shape.stride = features;
    shape.clusters = clusters;
    return message_of<InputError>([&] {
      plan_memory("data", *backend_, shape, backend_->default_parameters(), options_, 64 * kMiB);
    });
  };
  const std::string rule =
      " cannot be planned; samples must be at least 0, features and clusters at least 1";
  EXPECT_EQ(refusal(0, 0, 0), "data: a fit of 0 samples of 0 features with 0 clusters" + rule);
  EXPECT_EQ(refusal(-1, 2, 3), "data: a fit of -1 samples of 2 features with 3 clusters" + rule);
  EXPECT_EQ(refusal(9, 0, 3), "data: a fit of 9 samples of 0 features with 3 clusters" + rule);
  EXPECT_EQ(refusal(9, 2, 0), "data: a fit of 9 samples of 2 features with 0 clusters" + rule);
}

TEST_F(MemoryPlans, OfARankWithoutRows) {
  const MemoryPlan none = plan(64 * kMiB, 0);
  EXPECT_EQ(none.block_rows, 0);
  EXPECT_GE(none.bytes, kProgramBytes);
  EXPECT_NE(message_of<InputError>([&] { plan(kMiB, 0); }).find("the limit is 1.0 MiB"),
            std::string::npos);
}

TEST_F(MemoryPlans, RefuseALimitThatCannotBeKept) {
  try {
    plan(100 * kMiB);
    FAIL() << "was planned";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("the limit is 100.0 MiB"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace lloyd
