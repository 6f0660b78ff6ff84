// lloyd::fit() on parts of a data set: the result of one process on every rank.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/npy.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>
#include <lloyd/registry.hpp>

#include "unit/support/faulty_rows.hpp"
#include "unit/support/fit_results.hpp"
#include "unit/support/rank_parts.hpp"
#include "unit/support/run_ranks.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Cancels after a number of iterations.
class PartFitObserver final : public Observer {
 public:
  explicit PartFitObserver(std::int64_t last) : last_(last) {}
  bool on_iteration(const IterationRecord& record) noexcept override {
    return record.iteration != last_;
  }
  bool stop_requested() const noexcept override { return false; }

 private:
  std::int64_t last_;
};

struct PartFitProblem {
  Matrix matrix;
  FitOptions options;
  std::int64_t last_iteration = 0;  // after which one rank cancels the fit; 0: none does
};

template <class T>
Matrix part_fit_values(std::int64_t n, std::int64_t d, int distinct, int reach,
                       std::mt19937& random) {
  std::vector<T> values;
  std::uniform_int_distribution<int> digits(-distinct, distinct);
  std::uniform_int_distribution<int> exponent(-reach, reach);
  for (std::int64_t i = 0; i < n * d; ++i) {
    values.push_back(static_cast<T>(std::ldexp(digits(random), exponent(random))));
  }
  return Matrix::from_values(std::move(values), n, d);
}

PartFitProblem part_fit_problem(int number) {
  std::mt19937 random(static_cast<unsigned>(number));
  const auto below = [&](std::int64_t bound) {
    return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random);
  };
  PartFitProblem problem;
  const std::int64_t n = number % 6 == 0 ? 1 + below(12) : 100 + below(900);
  const std::int64_t d = 1 + below(5);
  // Few distinct samples give empty clusters; large exponents sums of two words, or compensated.
  const int distinct = number % 4 == 0 ? 1 : 500;
  const int reach = number % 3 == 0 ? 20 : number % 3 == 1 ? 0 : 60;
  problem.matrix = number % 2 == 0 ? part_fit_values<float>(n, d, distinct, reach, random)
                                   : part_fit_values<double>(n, d, distinct, reach, random);
  FitOptions& options = problem.options;
  options.clusters = 1 + below(std::min<std::int64_t>(n, 15));
  options.max_iterations = 1 + below(15);
  options.fixed_iterations = number % 5 == 0;
  options.restarts = number % 7 == 0 ? 2 : 1;
  options.observe = number % 2 == 0 ? kObserveIterations | kObserveInertia : 0u;
  constexpr EmptyClusters kPolicies[] = {EmptyClusters::relocate, EmptyClusters::keep,
                                         EmptyClusters::error};
  options.empty_clusters = kPolicies[number / 4 % 3];
  if (number % 9 == 5) {
    problem.last_iteration = 1 + below(options.max_iterations);
    options.observe |= kObserveIterations;
  }
  const std::vector<SeedingMethod> methods = seeding_methods();
  options.seeding.method = methods[static_cast<std::size_t>(number) % methods.size()];
  options.seeding.seed = static_cast<std::uint64_t>(number);
  if (options.seeding.method == SeedingMethod::file) {
    for (std::int64_t i = 0; i < options.clusters * d; ++i) {
      options.seeding.centroids.push_back(problem.matrix.at(0, i % d) + static_cast<double>(i % 7));
    }
  }
  return problem;
}

// The fit, or the error that ended it.
struct PartFitOutcome {
  Fit fit;
  std::string error;
};

PartFitOutcome run_part_fit(BackendSession& session, const PartFitProblem& problem, bool cancels) {
  PartFitObserver observer(cancels ? problem.last_iteration : 0);
  PartFitOutcome outcome;
  try {
    outcome.fit = fit(session, problem.options, &observer);
  } catch (const BackendError& error) {
    outcome.error = error.what();
  }
  return outcome;
}

void expect_outcome_of(const PartFitOutcome& found, const PartFitOutcome& whole,
                       const Dataset& part) {
  EXPECT_EQ(found.error, whole.error);
  EXPECT_EQ(found.fit.cancelled, whole.fit.cancelled);
  if (!whole.error.empty()) return;
  if (whole.fit.cancelled) {
    EXPECT_EQ(found.fit.centroids, whole.fit.centroids);
    EXPECT_EQ(found.fit.result.iterations, whole.fit.result.iterations);
    return;
  }
  expect_same_results(found.fit, whole.fit, part);
  EXPECT_EQ(found.fit.samples, whole.fit.samples);
  EXPECT_EQ(found.fit.check->inertia, whole.fit.check->inertia);
  EXPECT_EQ(found.fit.check->labels.wrong, 0);
}

class DistributedFitsOf : public testing::TestWithParam<std::string> {};

TEST_P(DistributedFitsOf, HaveTheBitsOfOneProcess) {
  Registry registry(Registry::default_folders());
  const auto backend = registry.load(GetParam());
  std::mt19937 random(9);
  int errors = 0;
  int cancelled = 0;
  int with_empty_clusters = 0;
  for (int number = 0; number < 75; ++number) {
    const PartFitProblem problem = part_fit_problem(number);
    const Dataset whole("points", problem.matrix);
    BackendSession alone(backend, whole, backend->default_parameters());
    const PartFitOutcome expected = run_part_fit(alone, problem, true);
    errors += expected.error.empty() ? 0 : 1;
    cancelled += expected.fit.cancelled ? 1 : 0;
    with_empty_clusters +=
        std::count(expected.fit.counts.begin(), expected.fit.counts.end(), 0) > 0;
    for (const int ranks : {1, 2, 3, 7}) {
      SCOPED_TRACE("problem " + std::to_string(number) + ", " + std::to_string(ranks) + " ranks");
      const std::vector<std::int64_t> bounds = random_bounds(problem.matrix.rows, ranks, random);
      run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
        const Dataset part = part_of(problem.matrix, bounds, communicator);
        BackendSession session(backend, part, backend->default_parameters());
        const bool cancels = communicator->rank() == number % ranks;
        expect_outcome_of(run_part_fit(session, problem, cancels), expected, part);
      });
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(errors, 0);
  EXPECT_GT(cancelled, 0);
  EXPECT_GT(with_empty_clusters, 0);
}

TEST_P(DistributedFitsOf, OfRowsThatAreReadInBlocksHaveTheBitsOfOneProcess) {
  Registry registry(Registry::default_folders());
  const auto backend = registry.load(GetParam());
  std::mt19937 random(19);
  for (int number = 0; number < 21; ++number) {
    const PartFitProblem problem = part_fit_problem(number);
    const Dataset whole("points", problem.matrix);
    BackendSession alone(backend, whole, backend->default_parameters());
    const PartFitOutcome expected = run_part_fit(alone, problem, true);
    for (const int ranks : {2, 7}) {
      SCOPED_TRACE("problem " + std::to_string(number) + ", " + std::to_string(ranks) + " ranks");
      const std::vector<std::int64_t> bounds = random_bounds(problem.matrix.rows, ranks, random);
      const std::int64_t block_rows = 20 + static_cast<std::int64_t>(random() % 300);
      const std::int64_t window_rows =
          number % 2 == 0 ? 0 : 20 + static_cast<std::int64_t>(random() % 300);
      run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
        // One of three ranks has its rows in memory.
        const Dataset part =
            communicator->rank() % 3 == 2
                ? part_of(problem.matrix, bounds, communicator)
                : streamed_part_of(problem.matrix, bounds, communicator, block_rows);
        BackendSession session(backend, part, backend->default_parameters(), block_rows,
                               window_rows);
        const bool cancels = communicator->rank() == number % ranks;
        expect_outcome_of(run_part_fit(session, problem, cancels), expected, part);
      });
    }
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, DistributedFitsOf, testing::Values("sequential", "openmp"),
                         [](const auto& test) { return test.param; });

constexpr std::int64_t kFailingRows = 5;

// Fails in a pass over kFailingRows rows.
template <class T>
struct FailingPartStep : RowStep<FailingPartStep<T>, T> {
  using Base = RowStep<FailingPartStep<T>, T>;
  using Base::Base;
  void begin_pass(const double* values, std::int64_t count, const StepPassOptions& options) {
    if (this->dataset.samples == kFailingRows && ++passes == 3) {
      throw StatusError(StatusCode::device_error, "the device is on fire");
    }
    Base::begin_pass(values, count, options);
  }
  std::int32_t label(const T* x) const {
    return nearest_centroid(x, this->centroids, this->clusters, this->dataset.features).label;
  }
  int passes = 0;
};
constexpr BackendInfo kFailingPartInfo = exact_step_info("fails");
using FailingPartBackend = StepBackend<FailingPartStep, kFailingPartInfo>;

std::shared_ptr<const LoadedBackend> failing_part_backend() {
  return std::make_shared<const LoadedBackend>("burning", make_plugin_header("burning", "1"),
                                               new FailingPartBackend, std::vector<DeviceInfo>(1),
                                               "");
}

TEST(DistributedFits, TheFailureOfABackendIsThrownByAllRanks) {
  const PartFitProblem problem = part_fit_problem(1);
  const auto backend = failing_part_backend();
  FitOptions options = problem.options;
  options.max_iterations = 9;
  options.fixed_iterations = true;
  const std::int64_t n = problem.matrix.rows;
  run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
    const Dataset part = part_of(problem.matrix, {0, 20, 20 + kFailingRows, n}, communicator);
    BackendSession session(backend, part, backend->default_parameters());
    EXPECT_EQ(message_of<BackendError>([&] { fit(session, options); }),
              "burning: " + name_of_rank(1, host_name()) + ": the device is on fire");
  });
}

// Rows of a matrix of which one read fails.
class UnreadableRows final : public RowSource {
 public:
  // `failing`: number of the read that fails, from 1; 0: none.
  UnreadableRows(Matrix matrix, int failing)
      : rows_(rows_of("points", std::move(matrix))), failing_(failing) {}

  const std::string& name() const override { return rows_->name(); }
  std::int64_t samples() const override { return rows_->samples(); }
  std::int64_t features() const override { return rows_->features(); }
  DType dtype() const override { return rows_->dtype(); }
  void read(RowRange rows, void* values) const override {
    if (++reads_ == failing_) throw InputError("points: the disk is on fire");
    rows_->read(rows, values);
  }
  bool failed() const { return failing_ > 0 && reads_ >= failing_; }

 private:
  std::unique_ptr<RowSource> rows_;
  int failing_;
  mutable std::atomic<int> reads_{0};
};

// Every read of a fit fails once: those for statistics, seeding, passes, compensated sums, samples
// that move to empty clusters, and the check of the result.
void expect_failures_of_all_reads(const PartFitProblem& problem, SumForm form, bool relocates) {
  const auto backend = failing_part_backend();
  const std::int64_t half = problem.matrix.rows / 2;
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const bool fails = communicator->rank() == 1;
    Matrix mine = problem.matrix;
    mine.rows = fails ? mine.rows - half : half;
    if (fails) {
      mine.data =
          static_cast<const char*>(mine.data) + half * mine.stride * size_of(problem.matrix.dtype);
    }
    bool finished = false;
    int read = 0;
    while (!finished && !testing::Test::HasFailure()) {
      ++read;
      const auto source = std::make_shared<const UnreadableRows>(mine, fails ? read : 0);
      const std::string message = [&]() -> std::string {
        try {
          const Dataset part = Dataset::part(source, half / 2, communicator);
          BackendSession session(backend, part, backend->default_parameters(), half / 2);
          const Fit found = fit(session, problem.options);
          EXPECT_FALSE(source->failed()) << "read " << read;
          EXPECT_EQ(found.result.sum_form, form);
          EXPECT_EQ(found.result.relocations > 0, relocates);
          return {};
        } catch (const InputError& error) {
          return error.what();
        }
      }();
      finished = message.empty();
      EXPECT_TRUE(finished ||
                  message == name_of_rank(1, host_name()) + ": points: the disk is on fire")
          << message;
    }
    EXPECT_GT(read, 12);
  });
}

TEST(DistributedFits, AFileThatOneRankCannotReadIsReportedByAll) {
  const auto relocating = [](int number) {
    PartFitProblem problem = part_fit_problem(number);
    problem.options.empty_clusters = EmptyClusters::relocate;
    return problem;
  };
  expect_failures_of_all_reads(relocating(14), SumForm::compensated, true);
  PartFitProblem problem = relocating(4);
  expect_failures_of_all_reads(problem, SumForm::integer64, true);
  problem.options.seeding = {.method = SeedingMethod::kmeans_plus_plus};
  expect_failures_of_all_reads(problem, SumForm::integer64, false);
}

TEST(DistributedFits, ASourceThatReturnsOtherValuesOnOneRankIsNamedByAll) {
  const Matrix matrix = Matrix::from_values(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8, 1);
  const auto backend = failing_part_backend();
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    constexpr int kStatisticsReads = 4;
    const int good_reads = communicator->rank() == 1 ? kStatisticsReads : 1000;
    const auto source =
        std::make_shared<const FaultyRows>("points", matrix, good_reads, shift_values);
    const Dataset part = Dataset::part(source, 2, communicator);
    BackendSession session(backend, part, backend->default_parameters(), 2);
    EXPECT_EQ(
        message_of<InputError>([&] {
          session.fit_from({0, 1}, {.clusters = 2});
        }),
        name_of_rank(1, host_name()) +
            ": points: the source of rows returned values that differ from those of its first "
            "pass; it must return the same rows in every pass");
  });
}

TEST(DistributedFits, ATruncatedMappedFileIsReportedByAllRanks) {
  constexpr std::int64_t kRows = 20000;
  const TemporaryFolder folder;
  const auto backend = failing_part_backend();
  const auto file = folder.path() / "points.npy";
  const std::vector<double> values(static_cast<std::size_t>(4 * kRows), 1);
  write_npy(file, values, 4);
  const Matrix matrix = read_npy(file);
  ASSERT_TRUE(matrix.file != nullptr);
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const Dataset part = part_of(matrix, {0, kRows / 2, kRows}, communicator);
    BackendSession session(backend, part, backend->default_parameters());
    if (communicator->rank() == 1) std::filesystem::resize_file(file, 128);
    const Ranks ranks(communicator);
    ranks.together([] {});  // wait for the truncation
    const std::vector<double> centroids(4, 1);
    FitOptions options;
    options.clusters = 1;
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> counts;
    const std::string part_of_message = "the file was truncated from 640128 to 128 bytes";
    for (const std::string& message :
         {message_of<InputError>([&] { fit(session, options); }),
          message_of<InputError>([&] { session.fit_from(centroids, options); }),
          message_of<InputError>([&] { session.label(centroids, 1, labels, counts); })}) {
      EXPECT_NE(message.find(part_of_message), std::string::npos) << message;
    }
  });
}

TEST(DistributedFits, OptionsOutOfRangeAreRefusedByAllRanks) {
  const PartFitProblem problem = part_fit_problem(1);
  const auto backend = failing_part_backend();
  const std::int64_t n = problem.matrix.rows;
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const Dataset part = part_of(problem.matrix, {0, 20, n}, communicator);
    BackendSession session(backend, part, backend->default_parameters());
    FitOptions options = problem.options;
    options.clusters = n + 1;
    EXPECT_EQ(message_of<InputError>([&] { fit(session, options); }),
              "clusters is " + std::to_string(n + 1) + "; it must be 1 to " + std::to_string(n) +
                  ", the number of samples in points");
    options.clusters = 1 + communicator->rank();
    EXPECT_EQ(message_of<InputError>([&] { fit(session, options); }),
              "the ranks were given different values of clusters");
    options.clusters = 21;  // more than the rows of rank 0
    options.max_iterations = 2;
    EXPECT_EQ(fit(session, options).counts.size(), 21u);
  });
}

TEST(DistributedFits, AreCancelledOnAllRanks) {
  const PartFitProblem problem = part_fit_problem(1);
  const auto backend = failing_part_backend();
  FitOptions options = problem.options;
  options.max_iterations = 9;
  options.fixed_iterations = true;
  options.observe = kObserveIterations;
  const Dataset whole("points", problem.matrix);
  BackendSession alone(backend, whole, backend->default_parameters());
  PartFitObserver stops(4);
  const Fit expected = fit(alone, options, &stops);
  run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
    const std::int64_t n = problem.matrix.rows;
    const Dataset part = part_of(problem.matrix, {0, n / 2, n / 2, n}, communicator);
    BackendSession session(backend, part, backend->default_parameters());
    PartFitObserver observer(communicator->rank() == 1 ? 4 : 0);
    const Fit found = fit(session, options, &observer);
    EXPECT_TRUE(found.cancelled);
    EXPECT_EQ(found.result.iterations, 4);
    EXPECT_EQ(found.centroids, expected.centroids);
    EXPECT_TRUE(found.labels.empty());
  });
}

TEST(DistributedFits, LabelTheRowsOfTheirRank) {
  const PartFitProblem problem = part_fit_problem(3);
  const auto backend = failing_part_backend();
  const Dataset whole("points", problem.matrix);
  const std::vector<double> centroids = whole.sample(3);
  BackendSession alone(backend, whole, backend->default_parameters());
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  const LabelResult expected = alone.label(centroids, 1, labels, counts);
  run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
    const std::int64_t n = problem.matrix.rows;
    const Dataset part = part_of(problem.matrix, {0, 0, n / 2, n}, communicator);
    BackendSession session(backend, part, backend->default_parameters());
    const Dataset streamed = streamed_part_of(problem.matrix, {0, 0, n / 2, n}, communicator, 7);
    BackendSession streamed_session(backend, streamed, backend->default_parameters(), 7);
    for (BackendSession* const one : {&session, &streamed_session}) {
      std::vector<std::int32_t> part_labels;
      std::vector<std::int64_t> part_counts;
      EXPECT_EQ(one->label(centroids, 1, part_labels, part_counts).inertia, expected.inertia);
      EXPECT_EQ(std::ssize(part_labels), part.samples());
      EXPECT_EQ(part_counts, counts);
    }
  });
}

}  // namespace
}  // namespace lloyd
