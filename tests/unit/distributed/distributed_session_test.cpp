// DistributedSession: the bits of one process, and failures and cancellation that reach all ranks.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>

#include "distributed/distributed_session.hpp"
#include "session/session_pointer.hpp"
#include "unit/support/rank_parts.hpp"
#include "unit/support/run_ranks.hpp"

namespace lloyd {
namespace {

template <class T>
struct RankStep : RowStep<RankStep<T>, T> {
  using RowStep<RankStep<T>, T>::RowStep;
  std::int32_t label(const T* x) const {
    return nearest_centroid(x, this->centroids, this->clusters, this->dataset.features).label;
  }
};
constexpr BackendInfo kRankInfo = exact_step_info("exact");
using RankBackend = StepBackend<RankStep, kRankInfo>;

// What the session of a rank is like.
struct RankKind {
  bool has_kernels = true;        // offers PassKernels
  std::int64_t failing_pass = 0;  // number of the call of partial() that fails; 0: none
  bool hides_changes = false;     // its PassKernels report no changed labels
  std::int64_t sum_fault = 0;     // what its PassKernels add to an entry of the sums
  std::int64_t faulty_sum = 0;    // the entry
};

// PassKernels with the faults of a kind.
class FaultyKernels final : public PassKernels {
 public:
  explicit FaultyKernels(const RankKind& kind) : kind_(kind) {}
  PassKernels* around(void* inner) {
    inner_ = static_cast<PassKernels*>(inner);
    return this;
  }
  Status begin(const PassOptions& options) noexcept override { return inner_->begin(options); }
  Status pass(const PassRequest& request, Observer* observer,
              PassResult& result) noexcept override {
    const Status status = inner_->pass(request, observer, result);
    if (kind_.hides_changes) result.changed = 0;
    if (request.sums != nullptr) request.sums[kind_.faulty_sum] += kind_.sum_fault;
    return status;
  }
  Status farthest(std::int64_t wanted, Observer* observer, FarSample* samples,
                  std::int64_t* count) noexcept override {
    return inner_->farthest(wanted, observer, samples, count);
  }
  Status labels(std::int32_t* labels) noexcept override { return inner_->labels(labels); }
  void end() noexcept override { inner_->end(); }

 private:
  const RankKind& kind_;
  PassKernels* inner_ = nullptr;
};

// A session that hides its kernels and may fail.
class RankTestSession final : public Session {
 public:
  RankTestSession(Session* inner, const RankKind& kind) : inner_(inner), kind_(kind) {}
  Status fit(const FitSpec&, Observer*, FitResult&) noexcept override {
    return Status::error(StatusCode::internal, "the ranks must not fit by themselves");
  }
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override {
    return inner_->label(request, observer, result);
  }
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override {
    if (++passes_ == kind_.failing_pass) {
      return Status::error(StatusCode::device_error, "the device is on fire");
    }
    return inner_->partial(request, observer, result);
  }
  void* query(const char* name) noexcept override {
    if (kind_.has_kernels && std::strcmp(name, kPassKernels) == 0) {
      return kernels_.around(inner_->query(name));
    }
    return kind_.has_kernels ? inner_->query(name) : nullptr;
  }
  void release() noexcept override {
    inner_->release();
    delete this;
  }

 private:
  Session* inner_;
  RankKind kind_;
  std::int64_t passes_ = 0;
  FaultyKernels kernels_{kind_};
};

Session* open_rank_session(const Dataset& dataset, const RankKind& kind) {
  if (dataset.samples() == 0) return nullptr;
  static RankBackend* const backend = new RankBackend;
  Session* session = nullptr;
  const Status status = backend->open(dataset.view(), {}, &session);
  if (!status.ok()) throw StatusError(status);
  return new RankTestSession(session, kind);
}

// All that a fit returns to a rank.
struct RankFit {
  Status status;
  FitResult result;
  std::vector<double> centroids;
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  std::vector<std::vector<double>> records;
};

// Keeps the numbers of all records, and stops a fit.
class RankTestObserver final : public Observer {
 public:
  RankTestObserver(std::vector<std::vector<double>>& records, std::int64_t last)
      : records_(records), last_(last) {}
  bool on_iteration(const IterationRecord& record) noexcept override {
    records_.push_back({static_cast<double>(record.iteration), static_cast<double>(record.changed),
                        static_cast<double>(record.relocations), record.shift, record.inertia});
    return record.iteration != last_;
  }
  bool stop_requested() const noexcept override { return last_ == 0; }

 private:
  std::vector<std::vector<double>>& records_;
  std::int64_t last_;
};

constexpr std::int64_t kNeverStop = -1;

// `last`: iteration after which the observer stops the fit; 0: at once.
RankFit run_rank_fit(Session& session, const Dataset& dataset, const FitSpec& spec,
                     std::int64_t last = kNeverStop) {
  RankFit fit;
  fit.centroids.resize(static_cast<std::size_t>(spec.clusters * dataset.features()));
  fit.labels.resize(static_cast<std::size_t>(dataset.samples()));
  fit.counts.resize(static_cast<std::size_t>(spec.clusters));
  fit.result.centroids = fit.centroids.data();
  fit.result.labels = fit.labels.data();
  fit.result.counts = fit.counts.data();
  RankTestObserver observer(fit.records, last);
  fit.status = session.fit(spec, &observer, fit.result);
  return fit;
}

struct RankProblem {
  Matrix matrix;
  std::vector<double> start;  // initial centroids
  FitSpec spec;
};

template <class T>
Matrix rank_values(std::int64_t n, std::int64_t d, std::int64_t equal_rows, int reach,
                   std::mt19937& random) {
  std::vector<T> values;
  std::uniform_int_distribution<int> digits(-50, 50);
  std::uniform_int_distribution<int> exponent(-reach, reach);
  for (std::int64_t i = 0; i < n * d; ++i) {
    values.push_back(static_cast<T>(std::ldexp(digits(random), exponent(random))));
  }
  for (std::int64_t i = 0; i < equal_rows * d; ++i)
    values[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(i % d)];
  return Matrix::from_values(std::move(values), n, d);
}

RankProblem random_rank_problem(int number) {
  std::mt19937 random(static_cast<unsigned>(number));
  const auto below = [&](std::int64_t bound) {
    return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random);
  };
  RankProblem problem;
  const std::int64_t n = 1 + below(number % 5 == 0 ? 8 : 300);
  const std::int64_t d = 1 + below(6);
  const std::int64_t k = 1 + below(std::min<std::int64_t>(n, 12));
  // Equal rows give empty clusters.
  const std::int64_t equal = number % 3 == 0 ? below(k + 1) : 0;
  // Exponents that need one word, two words whose high limbs are packed or not, or compensated
  // sums.
  const int reach = number % 8 == 0 ? 30 : number % 8 == 4 ? 42 : number % 4 == 1 ? 60 : 0;
  problem.matrix = number % 2 == 0 ? rank_values<float>(n, d, equal, reach, random)
                                   : rank_values<double>(n, d, equal, reach, random);
  for (std::int64_t c = 0; c < k; ++c) {
    for (std::int64_t j = 0; j < d; ++j) problem.start.push_back(problem.matrix.at(c, j));
  }
  FitSpec& spec = problem.spec;
  spec.clusters = k;
  spec.max_iterations = 1 + below(20);
  spec.tolerance = number % 7 == 0 ? 1.0 : 0.0;
  spec.stop_rule = number % 6 == 0 ? StopRule::fixed : StopRule::converge;
  spec.empty_clusters = number % 11 == 0  ? EmptyClusters::error
                        : number % 5 == 0 ? EmptyClusters::keep
                                          : EmptyClusters::relocate;
  spec.observe = kObserveIterations | (number % 3 != 1 ? kObserveInertia : 0u) |
                 (number % 13 == 0 ? kObserveLabels : 0u);
  return problem;
}

template <class T>
bool equal_rank_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

void expect_part_of(const RankFit& found, const RankFit& whole, const Dataset& part) {
  ASSERT_EQ(found.status.code, whole.status.code) << found.status.message;
  EXPECT_EQ(found.result.iterations, whole.result.iterations);
  EXPECT_EQ(found.result.relocations, whole.result.relocations);
  EXPECT_EQ(found.records.size(), whole.records.size());
  for (std::size_t i = 0; i < std::min(found.records.size(), whole.records.size()); ++i) {
    EXPECT_TRUE(equal_rank_bits(found.records[i], whole.records[i])) << "iteration " << i + 1;
  }
  if (whole.status.code == StatusCode::empty_cluster) return;
  EXPECT_TRUE(equal_rank_bits(found.centroids, whole.centroids));
  EXPECT_EQ(found.result.valid, whole.result.valid);
  EXPECT_EQ(found.result.stop_reason, whole.result.stop_reason);
  EXPECT_EQ(found.result.sum_form, whole.result.sum_form);
  if (!whole.status.ok()) return;
  EXPECT_EQ(found.counts, whole.counts);
  EXPECT_EQ(found.result.inertia, whole.result.inertia);
  const auto first = whole.labels.begin() + part.first_row();
  EXPECT_EQ(found.labels, std::vector<std::int32_t>(first, first + part.samples()));
}

// Fits by several ranks; rank r has a session of kind kinds[r % kinds.size()]. Returns the fit of
// one process.
RankFit compare_with_one_process(const RankProblem& problem, int ranks,
                                 const std::vector<RankKind>& kinds,
                                 const std::vector<std::int64_t>& bounds,
                                 std::int64_t last = kNeverStop, int stopping_rank = 0) {
  const Dataset whole("points", problem.matrix);
  FitSpec spec = problem.spec;
  spec.initial_centroids = problem.start.data();
  static RankBackend* const backend = new RankBackend;
  Session* opened = nullptr;
  EXPECT_TRUE(backend->open(whole.view(), {}, &opened).ok());
  const SessionPointer alone(opened);
  RankFit expected = run_rank_fit(*alone, whole, spec, last);
  run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
    const auto rank = static_cast<std::size_t>(communicator->rank());
    const Dataset part = part_of(problem.matrix, bounds, communicator);
    const SessionPointer session(
        new DistributedSession(part, open_rank_session(part, kinds[rank % kinds.size()])));
    const RankFit found = run_rank_fit(*session, part, spec,
                                       communicator->rank() == stopping_rank ? last : kNeverStop);
    expect_part_of(found, expected, part);
  });
  return expected;
}

TEST(DistributedSession, HasTheBitsOfOneProcess) {
  std::mt19937 random(3);
  std::int64_t relocations[3] = {};  // by the form of the sums
  for (int number = 0; number < 120; ++number) {
    const RankProblem problem = random_rank_problem(number);
    for (const int ranks : {1, 2, 3, 7}) {
      SCOPED_TRACE("problem " + std::to_string(number) + ", " + std::to_string(ranks) + " ranks");
      const std::vector<std::int64_t> bounds = random_bounds(problem.matrix.rows, ranks, random);
      const RankFit fit = compare_with_one_process(problem, ranks, {{.has_kernels = true}}, bounds);
      relocations[static_cast<int>(fit.result.sum_form)] += fit.result.relocations;
      compare_with_one_process(problem, ranks, {{.has_kernels = false}, {.has_kernels = true}},
                               bounds);
      if (testing::Test::HasFailure()) return;
    }
  }
  for (const std::int64_t number : relocations) EXPECT_GT(number, 0);
}

// Problems of one word, and of two words whose high limbs are packed.
constexpr int kProblemsThatEnd[] = {2, 8};

TEST(DistributedSession, AnObserverThatStopsOneRankStopsAll) {
  for (const int number : kProblemsThatEnd) {
    RankProblem problem = random_rank_problem(number);
    problem.spec.max_iterations = 6;
    problem.spec.stop_rule = StopRule::fixed;
    const std::int64_t n = problem.matrix.rows;
    for (const std::int64_t last : {0, 1, 3, 6}) {
      for (int rank = 0; rank < 3; ++rank) {
        SCOPED_TRACE("problem " + std::to_string(number) + " stops after " + std::to_string(last) +
                     " on rank " + std::to_string(rank));
        compare_with_one_process(problem, 3, {{}}, {0, n / 2, n / 2, n}, last, rank);
      }
    }
  }
}

void expect_failure_of_rank_1(const RankProblem& problem) {
  FitSpec spec = problem.spec;
  spec.initial_centroids = problem.start.data();
  spec.stop_rule = StopRule::fixed;
  spec.max_iterations = 5;
  run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
    const Dataset part =
        part_of(problem.matrix, {0, 5, problem.matrix.rows, problem.matrix.rows}, communicator);
    for (const std::int64_t pass : {1, 3, 6}) {  // the sixth closes the fit
      RankKind kind;
      kind.has_kernels = communicator->rank() != 1;
      if (communicator->rank() == 1) kind.failing_pass = pass;
      const SessionPointer session(new DistributedSession(part, open_rank_session(part, kind)));
      const RankFit fit = run_rank_fit(*session, part, spec);
      EXPECT_EQ(fit.status.code, StatusCode::device_error);
      EXPECT_EQ(fit.status.message, name_of_rank(1, host_name()) + ": the device is on fire");
      const RankFit again = run_rank_fit(*session, part, spec);  // the ranks still agree
      EXPECT_TRUE(again.status.ok()) << again.status.message;
    }
  });
}

TEST(DistributedSession, TheFailureOfOneRankIsReportedByAll) {
  for (const int number : kProblemsThatEnd) expect_failure_of_rank_1(random_rank_problem(number));
}

// Fits a problem on 2 ranks, of which rank 1 is of a kind, and calls check(message) on both.
template <class Check>
void check_message_with(const RankProblem& problem, const RankKind& kind, const Check& check) {
  FitSpec spec = problem.spec;
  spec.initial_centroids = problem.start.data();
  spec.empty_clusters = EmptyClusters::keep;
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const std::int64_t n = problem.matrix.rows;
    const Dataset part = part_of(problem.matrix, {0, n / 2, n}, communicator);
    const bool is_faulty = communicator->rank() == 1;
    const SessionPointer session(
        new DistributedSession(part, open_rank_session(part, is_faulty ? kind : RankKind())));
    const RankFit fit = run_rank_fit(*session, part, spec);
    EXPECT_EQ(fit.status.code, StatusCode::internal);
    check(std::string(fit.status.message));
  });
}

TEST(DistributedSession, SumsOutOfTheRangeOfTheDataAreRefused) {
  RankKind kind;
  kind.sum_fault = std::int64_t{1} << 40;
  check_message_with(random_rank_problem(2), kind, [](const std::string& message) {
    EXPECT_TRUE(message.starts_with("a partial pass: the sum of cluster 0, feature 0 is "))
        << message;
  });
}

TEST(DistributedSession, ASumOfAClusterWithoutSamplesIsRefused) {
  RankProblem problem = random_rank_problem(6);
  ASSERT_GT(problem.spec.clusters, 1);
  const std::int64_t d = problem.matrix.columns;
  std::copy_n(problem.start.begin(), d, problem.start.begin() + d);  // cluster 1 is empty
  RankKind kind;
  kind.sum_fault = 1;
  kind.faulty_sum = d;
  check_message_with(problem, kind, [](const std::string& message) {
    EXPECT_TRUE(message.starts_with("a partial pass: the sum of cluster 1, feature 0 is "))
        << message;
    EXPECT_NE(message.find(", where 0 samples of "), std::string::npos) << message;
  });
}

TEST(DistributedSession, AHighLimbThatCannotBePackedIsRefused) {
  const RankProblem problem = random_rank_problem(8);
  RankKind kind;
  kind.sum_fault = std::int64_t{1} << 40;
  kind.faulty_sum = std::ssize(problem.start);  // the first high limb
  check_message_with(problem, kind, [](const std::string& message) {
    EXPECT_EQ(message,
              name_of_rank(1, host_name()) +
                  ": a pass changed the sum of cluster 0, feature 0 by more than its samples can");
  });
}

// Each rank counts its own rows only; a rank without rows has none.
TEST(DistributedSession, TheFirstPassChangesAllLabels) {
  const RankProblem problem = random_rank_problem(2);
  FitSpec spec = problem.spec;
  spec.initial_centroids = problem.start.data();
  run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
    const std::int64_t n = problem.matrix.rows;
    const Dataset part = part_of(problem.matrix, {0, 5, n, n}, communicator);
    RankKind kind;
    kind.hides_changes = communicator->rank() == 1;
    const SessionPointer session(new DistributedSession(part, open_rank_session(part, kind)));
    const RankFit fit = run_rank_fit(*session, part, spec);
    EXPECT_EQ(fit.status.code, StatusCode::internal);
    const std::string rows = std::to_string(n - 5);
    EXPECT_EQ(fit.status.message, name_of_rank(1, host_name()) +
                                      ": the first pass reports 0 changed labels, where all " +
                                      rows + " are new");
  });
}

TEST(DistributedSession, DifferentRequestsAreRefusedByAll) {
  const RankProblem problem = random_rank_problem(2);
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const Dataset part = part_of(problem.matrix, {0, 5, problem.matrix.rows}, communicator);
    const SessionPointer session(new DistributedSession(part, open_rank_session(part, {})));
    const bool differs = communicator->rank() == 1;
    const auto message = [&](const FitSpec& spec) {
      const RankFit fit = run_rank_fit(*session, part, spec);
      EXPECT_EQ(fit.status.code, StatusCode::invalid_argument);
      return std::string(fit.status.message);
    };
    FitSpec spec = problem.spec;
    spec.initial_centroids = problem.start.data();
    if (differs) ++spec.max_iterations;
    EXPECT_EQ(message(spec), "the ranks were given different values of max_iterations");
    spec = problem.spec;
    std::vector<double> start = problem.start;
    if (differs) start.back() += 1;
    spec.initial_centroids = start.data();
    EXPECT_EQ(message(spec), "the ranks were given different values of the centroids");
  });
}

TEST(DistributedSession, LabelsTheRowsOfItsRank) {
  const RankProblem problem = random_rank_problem(5);
  const Dataset whole("points", problem.matrix);
  const std::int64_t n = problem.matrix.rows;
  LabelRequest request;
  request.centroids = problem.start.data();
  request.clusters = problem.spec.clusters;
  const auto run = [&](Session& session, const Dataset& dataset, bool with_distances) {
    RankFit labelled;
    labelled.labels.resize(static_cast<std::size_t>(dataset.samples()));
    labelled.counts.resize(static_cast<std::size_t>(request.clusters));
    labelled.centroids.resize(labelled.labels.size());
    LabelResult result;
    result.labels = labelled.labels.data();
    result.counts = labelled.counts.data();
    if (with_distances) result.squared_distances = labelled.centroids.data();
    labelled.status = session.label(request, nullptr, result);
    labelled.result.inertia = result.inertia;
    return labelled;
  };
  const SessionPointer alone(open_rank_session(whole, {}));
  for (const bool with_distances : {false, true}) {
    const RankFit expected = run(*alone, whole, with_distances);
    run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
      const Dataset part = part_of(problem.matrix, {0, 0, n / 3, n}, communicator);
      const SessionPointer session(new DistributedSession(part, open_rank_session(part, {})));
      const RankFit found = run(*session, part, with_distances);
      EXPECT_TRUE(found.status.ok());
      EXPECT_EQ(found.counts, expected.counts);
      EXPECT_EQ(found.result.inertia, expected.result.inertia);
      for (std::int64_t i = 0; i < part.samples(); ++i) {
        const auto row = static_cast<std::size_t>(i);
        const auto of_whole = static_cast<std::size_t>(part.first_row() + i);
        EXPECT_EQ(found.labels[row], expected.labels[of_whole]);
        EXPECT_EQ(found.centroids[row], expected.centroids[of_whole]);
      }
    });
  }
}

// Counts the operations of a rank and its calls of progress().
class CountingCommunicator final : public Communicator {
 public:
  explicit CountingCommunicator(std::shared_ptr<Communicator> inner) : inner_(std::move(inner)) {}

  std::int64_t operations() const { return operations_; }
  std::int64_t progresses() const { return progresses_; }
  std::int32_t rank() const noexcept override { return inner_->rank(); }
  std::int32_t size() const noexcept override { return inner_->size(); }
  Status all_reduce(const ReduceRequest& request) noexcept override {
    ++operations_;
    return inner_->all_reduce(request);
  }
  Status broadcast(void* bytes, std::int64_t count, std::int32_t root) noexcept override {
    ++operations_;
    return inner_->broadcast(bytes, count, root);
  }
  Status all_gather(const void* mine, std::int64_t bytes, void* all) noexcept override {
    ++operations_;
    return inner_->all_gather(mine, bytes, all);
  }
  Status barrier() noexcept override {
    ++operations_;
    return inner_->barrier();
  }
  void set_timeout(double seconds) noexcept override { inner_->set_timeout(seconds); }
  void progress() noexcept override {
    ++progresses_;
    inner_->progress();
  }
  void abort(const char* message) noexcept override { inner_->abort(message); }
  bool reports_failure() noexcept override { return inner_->reports_failure(); }
  void* query(const char* name) noexcept override { return inner_->query(name); }
  void release() noexcept override {}

 private:
  std::shared_ptr<Communicator> inner_;
  std::int64_t operations_ = 0;
  std::int64_t progresses_ = 0;
};

TEST(DistributedSession, RanksSignalProgressWhileTheyReadBlocks) {
  const RankProblem problem = random_rank_problem(2);
  const std::int64_t rows = problem.matrix.rows;
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const auto counting = std::make_shared<CountingCommunicator>(communicator);
    const Dataset part = streamed_part_of(problem.matrix, {0, rows / 2, rows}, counting, 1);
    EXPECT_GE(counting->progresses(), part.samples());
  });
}

TEST(DistributedSession, SendsOneMessagePerIteration) {
  RankProblem problem = random_rank_problem(2);
  problem.spec.stop_rule = StopRule::fixed;
  problem.spec.empty_clusters = EmptyClusters::keep;
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const auto counting = std::make_shared<CountingCommunicator>(communicator);
    const Dataset part = part_of(problem.matrix, {0, 5, problem.matrix.rows}, counting);
    const SessionPointer session(new DistributedSession(part, open_rank_session(part, {})));
    const auto operations_of = [&](std::int64_t iterations) {
      FitSpec spec = problem.spec;
      spec.initial_centroids = problem.start.data();
      spec.max_iterations = iterations;
      const std::int64_t before = counting->operations();
      EXPECT_TRUE(run_rank_fit(*session, part, spec).status.ok());
      return counting->operations() - before;
    };
    const std::int64_t of_two = operations_of(2);
    EXPECT_EQ(operations_of(12) - of_two, 10);
  });
}

}  // namespace
}  // namespace lloyd
