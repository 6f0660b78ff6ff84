// A communicator that fails during a fit.
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>

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
