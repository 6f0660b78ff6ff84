// A BackendSession refuses a call while another one is running, on any thread.
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/seeding.hpp>

#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd {
namespace {

// Calls a function in each iteration.
class CallingObserver final : public Observer {
 public:
  explicit CallingObserver(std::function<void()> function) : function_(std::move(function)) {}
  bool on_iteration(const IterationRecord&) noexcept override {
    function_();
    return true;
  }
  bool stop_requested() const noexcept override { return false; }

 private:
  std::function<void()> function_;
};

class SessionUses : public testing::Test {
 protected:
  SessionUses() { options_.observe = kObserveIterations; }

  // What a call that is not allowed says; "was allowed" if it does not throw.
  static std::string refusal(const std::function<void()>& call) {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "was allowed";
  }

  // The messages of all functions that use the session.
  std::vector<std::string> refusals() {
    return {refusal([&] {
              session_.fit_from({0, 0, 1, 1}, options_);
            }),
            refusal([&] {
              session_.label({0, 0, 1, 1}, 2, labels_, counts_);
            }),
            refusal([&] {
              session_.check({0, 0, 1, 1}, labels_, 0);
            }),
            refusal([&] { fit(session_, options_); }),
            refusal([&] { seed_centroids(dataset_, 2, {}, 0, {.session = &session_}); })};
  }

  Dataset dataset_ = make_blobs({.samples = 200, .features = 2, .centers = 2, .seed = 3});
  std::shared_ptr<const LoadedBackend> backend_ = fake::make<fake::FakeStep>("fake");
  BackendSession session_{backend_, dataset_, backend_->default_parameters()};
  FitOptions options_{.clusters = 2, .max_iterations = 1, .fixed_iterations = true};
  std::vector<std::int32_t> labels_;
  std::vector<std::int64_t> counts_;
};

TEST_F(SessionUses, OfASecondThreadAreRefused) {
  std::promise<void> begun, refused;
  CallingObserver observer([&] {
    begun.set_value();
    refused.get_future().wait();
  });
  Fit first;
  std::thread thread([&] { first = fit(session_, options_, &observer); });
  begun.get_future().wait();
  const std::vector<std::string> messages = refusals();
  // Another session on the same data set is not affected.
  BackendSession other(backend_, dataset_, backend_->default_parameters());
  const Fit second = fit(other, options_);
  refused.set_value();
  thread.join();
  for (const std::string& message : messages) {
    EXPECT_EQ(message,
              "fake: the session on " + dataset_.name() +
                  " is in use by another thread; a session may be used by one thread at a time, "
                  "so open one session per thread");
  }
  EXPECT_EQ(first.labels, second.labels);
  EXPECT_EQ(fit(session_, options_).labels, second.labels) << "the session is free again";
}

TEST_F(SessionUses, InACallbackAreRefused) {
  std::vector<std::string> messages;
  CallingObserver observer([&] { messages = refusals(); });
  fit(session_, options_, &observer);
  ASSERT_EQ(messages.size(), 5u);
  for (const std::string& message : messages) {
    EXPECT_EQ(message, "fake: the session on " + dataset_.name() +
                           " is in use by the call from which this one is made, for example in an "
                           "observer; open another session for it");
  }
}

TEST_F(SessionUses, MayFollowOneAnother) {
  const std::vector<double> far(4, 1e300);  // is refused
  EXPECT_THROW(session_.fit_from(far, options_), InputError);
  std::thread([&] { session_.fit_from({0, 0, 1, 1}, options_); }).join();
  // The start of a fit may seed with the session.
  const auto start = [&](std::int64_t restart) {
    return GivenStart{seed_centroids(dataset_, 2, {}, restart, {.session = &session_})};
  };
  const Fit given = fit(session_, options_, nullptr, {}, start);
  EXPECT_EQ(given.centroids, fit(session_, options_).centroids);
}

}  // namespace
}  // namespace lloyd
