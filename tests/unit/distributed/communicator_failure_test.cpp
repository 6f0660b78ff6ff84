// A communicator that fails during a fit.
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/ranks.hpp>

#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/rank_parts.hpp"
#include "unit/support/run_ranks.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Makes the communicator fail after the second iteration.
class FailingNetworkObserver final : public Observer {
 public:
  explicit FailingNetworkObserver(std::shared_ptr<Communicator> communicator)
      : communicator_(std::move(communicator)) {}
  bool on_iteration(const IterationRecord& record) noexcept override {
    if (record.iteration == 2) communicator_->abort("rank 0 cannot be reached");
    return true;
  }
  bool stop_requested() const noexcept override { return false; }

 private:
  std::shared_ptr<Communicator> communicator_;
};

// Loses a rank when the ranks exchange the status of one that has failed.
class LossyCommunicator final : public Communicator {
 public:
  // `delivers`: the status still arrives.
  LossyCommunicator(std::shared_ptr<Communicator> inner, bool delivers)
      : inner_(std::move(inner)), delivers_(delivers) {}

  std::int32_t rank() const noexcept override { return inner_->rank(); }
  std::int32_t size() const noexcept override { return inner_->size(); }
  Status all_reduce(const ReduceRequest& request) noexcept override {
    return lost_ ? failure() : inner_->all_reduce(request);
  }
  Status broadcast(void* bytes, std::int64_t count, std::int32_t root) noexcept override {
    return lost_ ? failure() : inner_->broadcast(bytes, count, root);
  }
  Status all_gather(const void* mine, std::int64_t bytes, void* all) noexcept override {
    const bool has_status = bytes == sizeof(Status) + sizeof(HostName);
    if (has_status && !delivers_) lost_ = true;
    const Status status = lost_ ? failure() : inner_->all_gather(mine, bytes, all);
    if (has_status) lost_ = true;
    return status;
  }
  Status barrier() noexcept override { return lost_ ? failure() : inner_->barrier(); }
  void set_timeout(double seconds) noexcept override { inner_->set_timeout(seconds); }
  void progress() noexcept override { inner_->progress(); }
  void abort(const char* message) noexcept override { inner_->abort(message); }
  bool reports_failure() noexcept override { return inner_->reports_failure(); }
  void* query(const char* name) noexcept override { return inner_->query(name); }
  void release() noexcept override {}

 private:
  static Status failure() { return Status::error(StatusCode::unavailable, "a rank was lost"); }

  std::shared_ptr<Communicator> inner_;
  bool delivers_;
  bool lost_ = false;
};

constexpr std::int64_t kBurningRows = 60;

// Fails in the second pass over kBurningRows rows.
template <class T>
class BurningStep : public fake::FakeStep<T> {
 public:
  BurningStep(const DatasetView& dataset, const ParameterList& parameters)
      : fake::FakeStep<T>(dataset, parameters), burns_(dataset.samples == kBurningRows) {}
  void begin_pass(const double* centroids, std::int64_t clusters, const StepPassOptions& options) {
    if (burns_ && ++passes_ == 2) {
      throw StatusError(StatusCode::device_error, "the device is on fire");
    }
    fake::FakeStep<T>::begin_pass(centroids, clusters, options);
  }

 private:
  bool burns_;
  int passes_ = 0;
};

TEST(CommunicatorFailures, DoNotHideAnEarlierFailure) {
  std::vector<float> values(100);
  std::iota(values.begin(), values.end(), 0.0F);
  const Matrix matrix = Matrix::from_values(std::move(values), 100, 1);
  const auto backend = fake::make<BurningStep>("burning");
  const FitOptions options{.clusters = 3, .max_iterations = 9, .fixed_iterations = true};
  for (const bool delivers : {false, true}) {
    run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
      const auto lossy = std::make_shared<LossyCommunicator>(communicator, delivers);
      const Dataset part = part_of(matrix, {0, 100 - kBurningRows, 100}, lossy);
      BackendSession session(backend, part, backend->default_parameters());
      const bool knows = delivers || communicator->rank() == 1;
      EXPECT_EQ(message_of<BackendError>([&] { fit(session, options); }),
                knows ? "burning: " + name_of_rank(1, host_name()) + ": the device is on fire"
                      : "a rank was lost");
    });
  }
}

TEST(CommunicatorFailures, AreNotBlamedOnTheBackend) {
  std::vector<float> values(100);
  std::iota(values.begin(), values.end(), 0.0F);
  const Matrix matrix = Matrix::from_values(std::move(values), 100, 1);
  const auto backend = fake::make<fake::FakeStep>("fake");
  FitOptions options;
  options.clusters = 3;
  options.max_iterations = 9;
  options.fixed_iterations = true;
  options.observe = kObserveIterations;
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const Dataset part = part_of(matrix, {0, 40, 100}, communicator);
    BackendSession session(backend, part, backend->default_parameters());
    FailingNetworkObserver observer(communicator);
    EXPECT_EQ(message_of<BackendError>([&] { fit(session, options, &observer); }),
              "rank 0 cannot be reached");
  });
}

}  // namespace
}  // namespace lloyd
