// Checkpoints: a fit that is interrupted and resumed has the bits of the uninterrupted one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit/checkpoint.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/registry.hpp>

#include "unit/support/file_size_limit.hpp"
#include "unit/support/fit_results.hpp"
#include "unit/support/rank_parts.hpp"
#include "unit/support/run_ranks.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Cancels a fit after some iterations, and remembers their numbers.
class CancellingObserver final : public Observer {
 public:
  explicit CancellingObserver(int iterations) : left_(iterations) {}
  bool on_iteration(const IterationRecord& record) noexcept override {
    EXPECT_EQ(record.centroids, nullptr);  // not requested
    seen_.push_back(record.iteration);
    return --left_ > 0;
  }
  bool stop_requested() const noexcept override { return false; }
  const std::vector<std::int64_t>& seen() const { return seen_; }

 private:
  int left_;
  std::vector<std::int64_t> seen_;
};

struct CheckpointedProblem {
  Matrix matrix;
  FitOptions options;
};

template <class T>
Matrix checkpointed_values(std::int64_t n, std::int64_t d, int distinct, int reach,
                           std::mt19937& random) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n * d; ++i) {
    const int digits = static_cast<int>(random() % static_cast<unsigned>(2 * distinct + 1));
    const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * reach + 1)) - reach;
    values.push_back(static_cast<T>(std::ldexp(digits - distinct, exponent)));
  }
  return Matrix::from_values(std::move(values), n, d);
}

CheckpointedProblem checkpointed_problem(int number) {
  std::mt19937 random(static_cast<unsigned>(number) + 100);
  const auto below = [&](unsigned bound) { return static_cast<std::int64_t>(random() % bound); };
  CheckpointedProblem problem;
  const std::int64_t n = 200 + below(500);
  const std::int64_t d = 1 + below(4);
  // Few distinct samples give empty clusters; a large range of exponents needs sums of two words,
  // or compensated ones.
  const int distinct = number % 4 == 0 ? 3 : 500;
  const int reach = number % 3 == 0 ? 20 : number % 3 == 1 ? 0 : 60;
  problem.matrix = number % 2 == 0 ? checkpointed_values<float>(n, d, distinct, reach, random)
                                   : checkpointed_values<double>(n, d, distinct, reach, random);
  FitOptions& options = problem.options;
  options.clusters = 2 + below(20);
  options.max_iterations = number % 5 == 0 ? 2 + below(10) : 300;
  options.fixed_iterations = number % 10 == 0;
  options.tolerance = number % 6 == 1 ? 1e-3 : 0;
  options.restarts = number % 3 == 0 ? 3 : 1;
  options.observe = kObserveIterations;
  const std::vector<SeedingMethod> methods = seeding_methods();
  options.seeding.method = methods[static_cast<std::size_t>(number) % methods.size()];
  options.seeding.seed = static_cast<std::uint64_t>(number);
  if (options.seeding.method == SeedingMethod::file) {
    // Centroids outside the data, so that clusters are empty.
    for (std::int64_t i = 0; i < options.clusters * d; ++i) {
      options.seeding.centroids.push_back(problem.matrix.at(0, i % d) + static_cast<double>(i));
    }
  }
  return problem;
}

// Fits until the fit is finished, each time with another number of ranks, or in blocks.
class InterruptedFits : public testing::TestWithParam<std::string> {
 protected:
  void expect_bits_of_whole(const CheckpointedProblem& problem, std::mt19937& random) {
    const auto backend = registry_.load(GetParam());
    const Dataset whole("points", problem.matrix);
    BackendSession alone(backend, whole, backend->default_parameters());
    const Fit expected = fit(alone, problem.options);
    relocations_ += expected.result.relocations;
    const TemporaryFolder folder;
    write_npy(folder.path() / "points.npy", problem.matrix);
    CheckpointOptions checkpoints;
    checkpoints.folder = folder.path();
    bool finished = false;
    while (!finished) {
      checkpoints.every_iterations = random() % 3 == 0 ? 1 : 0;
      const int iterations = 2 + static_cast<int>(random() % 6);
      const int ranks = static_cast<int>(random() % 5) - 1;
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(iterations) + " iterations");
      const auto run = [&](const Dataset& dataset, std::int64_t block_rows) {
        BackendSession session(backend, dataset, backend->default_parameters(), block_rows);
        CancellingObserver observer(iterations);
        const Fit found = fit(session, problem.options, &observer, {}, {}, checkpoints);
        if (!found.cancelled) expect_same_results(found, expected, dataset);
        if (dataset.first_row() == 0) finished = !found.cancelled;
      };
      if (ranks == -1) {
        run(Dataset(open_rows(folder.path() / "points.npy"), 70), 70);
      } else if (ranks == 0) {
        run(whole, 0);
      } else {
        const std::vector<std::int64_t> bounds = random_bounds(problem.matrix.rows, ranks, random);
        run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
          run(part_of(problem.matrix, bounds, communicator), 0);
        });
      }
      checkpoints.resume = true;
      if (!finished) ++interruptions_;
      ASSERT_TRUE(has_checkpoint(folder.path()));
      if (testing::Test::HasFailure()) return;
    }
  }

  Registry registry_{Registry::default_folders()};
  std::int64_t relocations_ = 0;
  int interruptions_ = 0;
};

TEST_P(InterruptedFits, HaveTheBitsOfTheWhole) {
  std::mt19937 random(5);
  for (int number = 0; number < 30; ++number) {
    SCOPED_TRACE("problem " + std::to_string(number));
    expect_bits_of_whole(checkpointed_problem(number), random);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(relocations_, 0);
  EXPECT_GT(interruptions_, 30);
}

INSTANTIATE_TEST_SUITE_P(Backends, InterruptedFits, testing::Values("sequential", "openmp"),
                         [](const auto& test) { return test.param; });

// One fit with checkpoints in a folder of its own.
class Checkpoints : public testing::Test {
 protected:
  Checkpoints() {
    std::mt19937 random(3);
    matrix_ = checkpointed_values<float>(500, 2, 500, 0, random);
    options_.backend.name = "sequential";
    options_.fit.tolerance = 0;
    options_.checkpoints.folder = folder_.path();
    options_.checkpoints.every_iterations = 1;
  }

  // Fits; cancels after iteration `last`.
  Fit run_to(std::int64_t last) {
    options_.on_iteration = [this, last](const IterationRecord& record) {
      seen_.push_back(record.iteration);
      return record.iteration < last;
    };
    return kmeans(matrix_, 20, options_);
  }
  std::string refusal() {
    return message_of<InputError>([&] { run_to(300); });
  }

  TemporaryFolder folder_;
  Matrix matrix_;
  KMeansOptions options_;
  std::vector<std::int64_t> seen_;
};

TEST_F(Checkpoints, IterationsAreCountedOn) {
  EXPECT_TRUE(run_to(4).cancelled);
  EXPECT_EQ(seen_, (std::vector<std::int64_t>{1, 2, 3, 4}));
  seen_.clear();
  options_.checkpoints.resume = true;
  std::optional<ResumePoint> point;
  options_.checkpoints.on_resume = [&](const ResumePoint& found) { point = found; };
  const Fit resumed = run_to(6);
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->iterations, 3);
  EXPECT_EQ(point->restart, 0);
  EXPECT_EQ(seen_, (std::vector<std::int64_t>{4, 5, 6}));
  EXPECT_EQ(resumed.result.iterations, 6);
  EXPECT_EQ(resumed.resumed_iterations, 3);
}

TEST_F(Checkpoints, AreWrittenAtTheInterval) {
  options_.checkpoints.every_iterations = 5;
  std::vector<std::string> contents;
  options_.on_iteration = [&](const IterationRecord& record) {
    contents.push_back(TemporaryFolder::read(folder_.path() / "checkpoint.json"));
    return record.iteration < 11;
  };
  kmeans(matrix_, 20, options_);
  ASSERT_EQ(contents.size(), 11u);
  for (std::size_t i = 1; i < contents.size(); ++i) {
    // The checkpoint of iteration i + 1 is written before the observer sees it.
    EXPECT_EQ(contents[i] != contents[i - 1], (i + 1) % 5 == 0) << i;
  }
}

TEST_F(Checkpoints, AFinishedFitLeavesItsCheckpointToTheCaller) {
  run_to(300);
  EXPECT_TRUE(has_checkpoint(folder_.path()));
  EXPECT_EQ(refusal(), folder_.path().string() +
                           " has the checkpoint of an unfinished fit; resume that fit, or remove "
                           "the checkpoint");
  remove_checkpoint(folder_.path());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  remove_checkpoint(folder_.path());
  EXPECT_FALSE(run_to(300).cancelled);
}

TEST_F(Checkpoints, OfAnotherFitAreRefused) {
  options_.checkpoints.conditions = {{"scaled", "no"}};
  run_to(4);
  options_.checkpoints.resume = true;
  const std::string file = (folder_.path() / "checkpoint.json").string();
  options_.checkpoints.conditions = {{"scaled", "yes"}};
  EXPECT_EQ(refusal(),
            file + ": it belongs to another fit: 'scaled' is \"no\" there and \"yes\" here");
  options_.checkpoints.conditions = {{"scaled", "no"}};
  options_.fit.restarts = 2;
  EXPECT_EQ(refusal(), file + ": it belongs to another fit: 'restarts' is 1 there and 2 here");
  options_.fit.restarts = 1;
  options_.fit.max_iterations = 3;
  EXPECT_EQ(refusal(), "the checkpoint in " + folder_.path().string() +
                           " has reached iteration 4, but the fit may have only 3 iterations");
  options_.fit.max_iterations = 300;
  std::mt19937 random(4);
  options_.backend.name = "openmp";
  EXPECT_EQ(refusal(), file +
                           ": it belongs to another fit: 'backend' is \"sequential\" there and "
                           "any backend with canonical results here");
  options_.backend.name = "sequential";
  const Matrix same = matrix_;
  matrix_ = checkpointed_values<float>(500, 2, 500, 0, random);
  EXPECT_EQ(refusal(), file + ": it belongs to a fit of other samples: their values differ");
  matrix_ = same;
  EXPECT_FALSE(run_to(300).cancelled);
}

TEST_F(Checkpoints, ACanonicalBackendContinuesTheFitOfAnother) {
  std::mt19937 random(4);
  matrix_ = checkpointed_values<double>(500, 2, 500, 0, random);
  const CheckpointOptions checkpoints = std::exchange(options_.checkpoints, {});
  const Fit whole = run_to(300);
  options_.checkpoints = checkpoints;
  run_to(4);
  options_.checkpoints.resume = true;
  options_.backend.name = "openmp";
  const Fit resumed = run_to(300);
  EXPECT_EQ(resumed.resumed_iterations, 3);
  expect_same_results(resumed, whole, Dataset("points", matrix_));
}

TEST_F(Checkpoints, DamageIsRefused) {
  run_to(4);
  options_.checkpoints.resume = true;
  const std::string text = TemporaryFolder::read(folder_.path() / "checkpoint.json");
  const std::string start = (folder_.path() / "checkpoint.json").string() + ": ";
  const auto refusal_of = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(text.find(from), from.size(), to);
    folder_.write("checkpoint.json", changed);
    const std::string message = refusal();
    EXPECT_EQ(message.substr(0, start.size()), start);
    return message.substr(start.size());
  };
  EXPECT_EQ(refusal_of("\"iterations\": 3", "\"iterations\": -3"),
            "the checkpoint is damaged: 'iterations' is -3, not an integer >= 0");
  EXPECT_EQ(refusal_of("\"restart\": 0", "\"restart\": 1"),
            "the checkpoint is damaged: 'best' is null, not an object");
  EXPECT_EQ(refusal_of("lloyd-checkpoint", "lloyd-model"),
            "it is not a checkpoint: 'format' is not 'lloyd-checkpoint'");
  EXPECT_EQ(refusal_of("\"version\": 1", "\"version\": 2"),
            "its version is not 1, which this program reads");
  EXPECT_EQ(refusal_of("checkpoint-centroids-", "../centroids-").substr(0, 49),
            "the checkpoint is damaged: 'centroids.file' is '.");
  EXPECT_EQ(refusal_of("\"fit\": {", "\"fat\": {"),
            "the checkpoint is damaged: 'fit' is not an object");
  folder_.write("checkpoint.json", text);
  EXPECT_FALSE(run_to(300).cancelled);
}

TEST_F(Checkpoints, OptionsOutOfRangeAreRefused) {
  options_.checkpoints.every_iterations = -1;
  EXPECT_EQ(refusal(),
            "CheckpointOptions::every_iterations is -1; it must be at least 1, or 0 for "
            "checkpoints by time");
  options_.checkpoints.every_iterations = 0;
  for (const auto& [seconds, text] :
       {std::pair{0.0, "0"}, std::pair{-1.5, "-1.5"}, std::pair{std::nan(""), "nan"}}) {
    options_.checkpoints.every_seconds = seconds;
    EXPECT_EQ(refusal(), std::string("CheckpointOptions::every_seconds is ") + text +
                             "; it must be above 0 (every_iterations = 1 writes a checkpoint "
                             "after each iteration)");
  }
  EXPECT_FALSE(has_checkpoint(folder_.path()));
}

TEST_F(Checkpoints, OptionsWithoutEffectAreRefused) {
  options_.checkpoints.every_seconds = 5;
  EXPECT_EQ(refusal(),
            "CheckpointOptions has every_iterations = 1 and every_seconds = 5; set only one of "
            "them");
  options_.checkpoints = {.every_iterations = 3};
  EXPECT_EQ(refusal(),
            "CheckpointOptions::every_iterations is set, but its folder is empty, so there are no "
            "checkpoints; name their folder");
  options_.checkpoints = {.resume = true};
  EXPECT_EQ(refusal(),
            "CheckpointOptions::resume is set, but its folder is empty, so there are no "
            "checkpoints; name their folder");
}

TEST_F(Checkpoints, NeedAFolderThatExists) {
  options_.checkpoints.folder = folder_.path() / "none";
  EXPECT_EQ(refusal(), "the checkpoint folder " + (folder_.path() / "none").string() +
                           " does not exist or is no folder");
}

// Without on_warning, the result is the only place that says so.
TEST_F(Checkpoints, AnErrorOfWritingIsInTheResult) {
  {
    const FileSizeLimit limit(100);
    const Fit unsaved = run_to(300);
    EXPECT_FALSE(unsaved.cancelled);
    EXPECT_TRUE(unsaved.checkpoint_error.starts_with(
        "a checkpoint cannot be written; the fit continues without it: "))
        << unsaved.checkpoint_error;
  }
  EXPECT_EQ(run_to(4).checkpoint_error, "");
}

TEST_F(Checkpoints, AFullDiskIsReportedOnceAndKeepsTheFormerOne) {
  run_to(4);
  options_.checkpoints.resume = true;
  const std::string former = TemporaryFolder::read(folder_.path() / "checkpoint.json");
  std::vector<std::string> warnings;
  options_.checkpoints.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  {
    const FileSizeLimit limit(100);
    const Fit fit = run_to(8);
    EXPECT_TRUE(fit.cancelled);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(fit.checkpoint_error, warnings[0]);
  }
  EXPECT_NE(warnings[0].find("a checkpoint cannot be written; the fit continues without it: "),
            std::string::npos);
  EXPECT_EQ(TemporaryFolder::read(folder_.path() / "checkpoint.json"), former);
  seen_.clear();
  EXPECT_FALSE(run_to(300).cancelled);
  EXPECT_EQ(seen_.front(), 4);
}

TEST_F(Checkpoints, AFailureBetweenTheFilesOfACheckpointKeepsTheFormerOne) {
  run_to(4);
  options_.checkpoints.resume = true;
  const std::filesystem::path file = folder_.path() / "checkpoint.json";
  const auto mode = std::filesystem::status(file).permissions();
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  int warnings = 0;
  options_.checkpoints.on_warning = [&](const std::string& text) {
    EXPECT_NE(text.find("write-protected"), std::string::npos) << text;
    ++warnings;
  };
  EXPECT_TRUE(run_to(8).cancelled);  // writes centroids several times
  EXPECT_EQ(warnings, 1);
  std::filesystem::permissions(file, mode);
  seen_.clear();
  EXPECT_FALSE(run_to(300).cancelled);
  EXPECT_EQ(seen_.front(), 4);
}

TEST_F(Checkpoints, AnEmptyClusterIsReportedWithThePointOfResumption) {
  options_.fit.empty_clusters = EmptyClusters::error;
  options_.fit.seeding.method = SeedingMethod::random;
  const CheckpointOptions checkpoints = std::exchange(options_.checkpoints, {});
  const std::string prefix = "in iteration ";
  std::int64_t iteration = 0;  // in which a cluster becomes empty
  while (iteration < 4) {
    ASSERT_LT(++options_.fit.seeding.seed, 5000u);
    std::mt19937 random(static_cast<unsigned>(options_.fit.seeding.seed));
    matrix_ = checkpointed_values<float>(60, 2, 500, 0, random);
    const std::string message = message_of<BackendError>([&] { run_to(300); });
    const std::size_t found = message.find(prefix);
    iteration = found == std::string::npos ? 0 : std::stoll(message.substr(found + prefix.size()));
  }
  options_.checkpoints = checkpoints;
  EXPECT_TRUE(run_to(3).cancelled);
  options_.checkpoints.resume = true;
  const std::string message = message_of<BackendError>([&] { run_to(300); });
  EXPECT_NE(message.find(prefix + std::to_string(iteration - 2)), std::string::npos) << message;
  EXPECT_NE(
      message.find("(iterations are counted from the checkpoint, which is after iteration 2)"),
      std::string::npos)
      << message;
}

}  // namespace
}  // namespace lloyd
