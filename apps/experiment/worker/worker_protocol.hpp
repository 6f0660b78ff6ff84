// What `lloyd run` and its workers say to each other: JSON, a packet for each message. Every
// message to a worker but `forget` has one answer. A trial and a trace have another one, `done` or
// a failure, when their session was released. Where the untimed fit of a trial has a session of its
// own, `releasing` and `done` come first, before and after the release of that.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/fit.hpp>

#include "experiment/plan/backend_identity.hpp"
#include "experiment/trial/trial_work.hpp"

namespace lloyd::experiment {

/// First message: the backend that the worker is for.
struct StartMessage {
  std::string plugin;                             ///< absolute path
  std::map<std::string, std::string> parameters;  ///< all of them, as texts
  std::vector<int> cpus;                          ///< processors to run on; empty: all
  BackendIdentity identity;                       ///< what the plan knows it as
  /// For an external program to close a data set.
  std::chrono::milliseconds close_limit{60'000};
};

/// A trial on the data set that came last. With the descriptor of the initial centroids of all
/// restarts, k x d float64 values each.
struct TrialMessage {
  FitOptions options;  ///< seeding and observe are not sent
  bool probe = true;
  bool check_result = true;
  std::optional<int> processor;  ///< where the timed fit begins
  bool one_session = false;      ///< see TrialWork
};

/// A fit on the data set that came last, to be watched. With the same descriptor as a trial.
struct TraceMessage {
  FitOptions options;        ///< likewise
  std::int64_t restart = 0;  ///< whose initial centroids it starts from
  bool replay = false;
  bool warm_up = true;
};

/// A worker's answer.
struct Answer {
  std::string failure;  ///< empty where what was asked for was done
  bool has_outcome = false;
  TrialOutcome outcome;    ///< of a trial
  bool releasing = false;  ///< the session of a trial's untimed fit
  bool has_trace = false;  ///< which comes in shared memory, with a descriptor of it
  bool cancelled = false;  ///< the fit that was watched; a trial's outcome has its own
};

enum class MessageKind { start, dataset, forget, trial, trace, settle, finish };

std::string start_message(const StartMessage& message);
/// With the descriptors of its values and statistics.
std::string dataset_message(const nlohmann::ordered_json& description);
/// The worker lets go of its data set.
std::string forget_message();
std::string trial_message(const TrialMessage& message);
std::string trace_message(const TraceMessage& message);
/// The worker answers when its threads are idle, or have had machine::kMaxSpinTime to become so.
std::string settle_message();
/// The last message: the worker releases its backend.
std::string finish_message();

std::string answer_done();
std::string answer_releasing();
std::string answer_failure(std::string_view failure);
std::string answer_outcome(const TrialOutcome& outcome);
/// With the descriptor of share_trace().
std::string answer_trace();
std::string answer_cancelled();

/// A message as it came. All throw InputError, one sentence, for what is no such message.
nlohmann::ordered_json parse_message(std::string_view text);
MessageKind message_kind(const nlohmann::ordered_json& message);
StartMessage read_start_message(const nlohmann::ordered_json& message);
const nlohmann::ordered_json& read_dataset_message(const nlohmann::ordered_json& message);
TrialMessage read_trial_message(const nlohmann::ordered_json& message);
TraceMessage read_trace_message(const nlohmann::ordered_json& message);
Answer read_answer(std::string_view text);

}  // namespace lloyd::experiment
