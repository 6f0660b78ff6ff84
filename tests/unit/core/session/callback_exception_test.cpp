// Exceptions of the functions that a program passes to a fit reach the caller.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/seeding.hpp>

#include "unit/support/run_ranks.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Not a std::exception.
struct ProgramError {
  std::string text;
};

class CallbackExceptions : public testing::Test {
 protected:
  CallbackExceptions() {
    options_.backend.name = "sequential";
    options_.fit.max_iterations = 50;
    options_.fit.fixed_iterations = true;
  }

  // The text that kmeans() throws.
  std::string thrown() {
    try {
      kmeans(dataset_, 6, options_);
    } catch (const ProgramError& error) {
      return error.text;
    }
    return "nothing";
  }

  Dataset dataset_ = make_blobs({.samples = 3000, .features = 2, .centers = 6, .seed = 3});
  KMeansOptions options_;
};

TEST_F(CallbackExceptions, OfOnIterationLeaveKMeans) {
  std::int64_t last = 0;
  options_.on_iteration = [&](const IterationRecord& record) -> bool {
    last = record.iteration;
    if (last >= 3) throw ProgramError{"iteration " + std::to_string(last)};
    return true;
  };
  EXPECT_EQ(thrown(), "iteration 3");
  EXPECT_EQ(last, 3) << "the fit was stopped at once";
}

TEST_F(CallbackExceptions, OfStopLeaveKMeans) {
  for (const int polls : {0, 1, 20, 40}) {  // during seeding and in the iterations
    std::atomic<int> rest = polls;
    options_.stop = [&]() -> bool {
      if (rest-- <= 0) throw ProgramError{"stop"};
      return false;
    };
    EXPECT_EQ(thrown(), "stop") << polls;
    EXPECT_EQ(rest, -1) << "it was not called again";
  }
}

TEST_F(CallbackExceptions, OfOnStageLeaveKMeans) {
  int iterations = 0;
  options_.on_iteration = [&](const IterationRecord&) { return ++iterations > 0; };
  for (const char* wanted : {"seeding", "checking"}) {
    options_.on_stage = [&](std::string_view stage, std::int64_t, std::int64_t) {
      if (stage == wanted) throw ProgramError{std::string(stage)};
    };
    iterations = 0;
    EXPECT_EQ(thrown(), wanted);
    EXPECT_EQ(iterations, wanted == std::string_view("checking") ? 50 : 0);
  }
}

TEST_F(CallbackExceptions, OfTheFunctionsOfCheckpointsLeaveKMeans) {
  const TemporaryFolder folder;
  options_.checkpoints.folder = folder.path();
  options_.checkpoints.every_iterations = 1;
  options_.on_iteration = [](const IterationRecord& record) { return record.iteration < 5; };
  EXPECT_TRUE(kmeans(dataset_, 6, options_).cancelled);  // leaves a checkpoint
  options_.on_iteration = {};
  options_.checkpoints.resume = true;
  options_.checkpoints.on_resume = [](const ResumePoint& point) {
    throw ProgramError{"resumed at " + std::to_string(point.iterations)};
  };
  EXPECT_EQ(thrown(), "resumed at 4");
  options_.checkpoints.on_resume = {};
  options_.checkpoints.on_warning = [](const std::string&) { throw ProgramError{"warned"}; };
  // A folder in place of the file cannot be replaced by it.
  options_.on_iteration = [&](const IterationRecord&) {
    const auto file = folder.path() / "checkpoint.json";
    std::filesystem::remove(file);
    std::filesystem::create_directories(file / "not-empty");
    return true;
  };
  EXPECT_EQ(thrown(), "warned");
}

// The other rank does not wait for the one whose function throws.
TEST_F(CallbackExceptions, OfOneRankCancelTheOthers) {
  const std::string places[] = {"seeding", "iteration"};
  for (const std::string& place : places) {
    run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
      const Dataset part = Dataset::part("points", dataset_.matrix(), communicator);
      KMeansOptions options = options_;
      const bool throws = communicator->rank() == 1;
      options.on_stage = [&](std::string_view stage, std::int64_t, std::int64_t) {
        if (throws && stage == place) throw ProgramError{place};
      };
      options.on_iteration = [&](const IterationRecord&) -> bool {
        if (throws && place == "iteration") throw ProgramError{place};
        return true;
      };
      if (throws) {
        EXPECT_THROW(kmeans(part, 6, options), ProgramError);
      } else {
        EXPECT_TRUE(kmeans(part, 6, options).cancelled);
      }
    });
  }
}

TEST(SeedingExceptions, OfStopLeaveSeeding) {
  const Dataset dataset = make_blobs({.samples = 3000, .features = 2, .centers = 6, .seed = 3});
  const auto backend = load_backend({.name = "openmp"});  // has kernels of seeding
  BackendSession session(backend, dataset, backend->default_parameters());
  for (BackendSession* kernels : {&session, static_cast<BackendSession*>(nullptr)}) {
    SeedingResources resources;
    resources.session = kernels;
    resources.stop = []() -> bool { throw ProgramError{"stop"}; };
    EXPECT_THROW(seed_indices(dataset, 6, {}, 0, resources), ProgramError);
  }
}

}  // namespace
}  // namespace lloyd
