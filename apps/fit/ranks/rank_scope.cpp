#include "fit/ranks/rank_scope.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include <fmt/format.h>

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

// The rank of this process by the variables of its launcher; null if there are none.
const char* launched_rank() noexcept {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = std::getenv(variable)) return rank;
  }
  return nullptr;
}

// The name of this rank before it has joined.
std::string name_by_launcher() {
  const char* const rank = launched_rank();
  return fmt::format("{} on {}", rank == nullptr ? "a rank" : fmt::format("rank {}", rank),
                     host_name().data());
}

}  // namespace

bool is_first_launched() noexcept {
  const char* const rank = launched_rank();
  return rank == nullptr || std::string_view(rank) == "0";
}

RankScope::RankScope(const std::optional<LaunchedJob>& job, double timeout) {
  if (!job) return;
  name_ = name_by_launcher();
  enter("at the start");
  communicator_ = std::make_shared<TimedCommunicator>(join_supervised(*job));
  ranks_ = Ranks(communicator_);
  communicator_->set_timeout(timeout);
  name_ = name_of_rank(ranks_.rank(), host_name());
  enter("at the start");
  if (!is_first()) set_silent(true);
}

void RankScope::enter(std::string_view phase) noexcept {
  if (name_.empty()) return;  // the only rank
  phase_ = {};
  phase.copy(phase_.data(), phase_.size() - 1);
  std::array<char, 512> place{};
  fmt::format_to_n(place.data(), place.size() - 1, "{}, {}", name_, phase_.data());
  set_place(place.data());
}

// Rethrows the current exception; adds the phase to an error of the communicator.
void RankScope::rethrow_with_phase() const {
  try {
    throw;
  } catch (const BackendError& error) {
    if (error.code() != StatusCode::unavailable) throw;
    throw BackendError(error.code(), fmt::format("{}, {}", error.what(), phase_.data()));
  }
}

int RankScope::run(const std::function<int()>& body) const {
  if (communicator_ == nullptr) return body();
  try {
    const int status = body();
    with_core_errors([&] { ranks_.agree({}); });
    return is_first() ? status : kDone;
  } catch (...) {
    if (!is_common(std::current_exception())) {
      communicator_->abort((name_ + " has failed").c_str());
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
    rethrow_with_phase();
  }
}

}  // namespace lloyd::apps
