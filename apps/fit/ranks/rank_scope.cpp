#include "fit/ranks/rank_scope.hpp"

#include <chrono>
#include <exception>
#include <string>
#include <thread>

#include <lloyd/error.hpp>

#include "output/messages.hpp"
#include "process/exit_status.hpp"
#include "supervision/interrupt.hpp"
#include "supervision/supervision.hpp"

namespace lloyd::apps {
namespace {

// True for errors that all ranks throw alike, unless the communicator has failed.
bool is_common(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error&) {
    return true;
  } catch (const StatusError&) {
    return true;
  } catch (...) {
    return false;
  }
}

// Waits for the signal by which the launcher ends all ranks when the first one has failed.
void wait_for_launcher() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!interrupted() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

RankScope::RankScope(const std::optional<LaunchedJob>& job, double timeout) {
  if (!job) return;
  communicator_ = std::make_shared<TimedCommunicator>(join_supervised(*job));
  ranks_ = Ranks(communicator_);
  communicator_->set_timeout(timeout);
  if (!is_first()) set_silent(true);
}

int RankScope::run(const std::function<int()>& body) const {
  if (communicator_ == nullptr) return body();
  try {
    const int status = body();
    with_core_errors([&] { ranks_.agree({}); });
    return is_first() ? status : kDone;
  } catch (...) {
    if (!is_common(std::current_exception())) {
      communicator_->abort(("rank " + std::to_string(ranks_.rank()) + " has failed").c_str());
    }
    // If all ranks threw the same error, all reach this barrier. Only rank 0 fails then: the
    // launcher would end it, perhaps before it has printed the error, if another rank failed first.
    if (communicator_->barrier().ok()) {
      if (is_first()) throw;
      return kDone;
    }
    // The communicator has failed. One rank that detected the failure reports it and ends first.
    const bool reports = communicator_->reports_failure();
    set_silent(!reports);
    if (!reports) wait_for_launcher();
    throw;
  }
}

int RankScope::run_on_first(const std::function<int()>& body) const {
  std::exception_ptr failure;
  const int status = run([&]() -> int {
    if (!is_first()) return kDone;
    try {
      return body();
    } catch (...) {
      failure = std::current_exception();
      return kFailed;
    }
  });
  if (failure != nullptr) std::rethrow_exception(failure);
  return status;
}

}  // namespace lloyd::apps
