// The protocol between `lloyd run` and its workers: one JSON message per packet. The worker answers
// every message but `forget`. A trial or a trace gets a second answer, `done` or a failure, after
// its session is released. If the untimed fit of a trial has its own session, `releasing` and
// `done` precede the outcome, sent before and after that session is released.
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

/// First message: the backend of the worker. Carries a descriptor of the SharedBoard on which the
/// worker marks its calls of a plugin, or none.
struct StartMessage {
  std::string plugin;                             ///< absolute path
  std::map<std::string, std::string> parameters;  ///< all parameters, as texts
  std::vector<int> cpus;                          ///< processors to run on; empty: all
  BackendIdentity identity;                       ///< identity according to the plan
  /// Time limit for an external program to close a data set.
  std::chrono::milliseconds close_limit{60'000};
  std::chrono::steady_clock::time_point begun{};  ///< when the worker was started
};

/// Runs a trial on the last data set sent. Carries a descriptor of the initial centroids of all
/// restarts: k x d float64 values each.
struct TrialMessage {
  FitOptions options;  ///< seeding and observe are not sent
  bool probe = true;
  bool check_result = true;
  Checks checks;                         ///< see TrialWork
  bool silhouette = false;               ///< TrialWork::silhouette
  bool cold_l2 = false;                  ///< TrialWork::cold_l2
  bool counters = false;                 ///< TrialWork::counters
  std::vector<AfterOne> checked_before;  ///< see TrialWork
  std::optional<int> processor;          ///< processor on which the timed fit begins
  bool one_session = false;              ///< see TrialWork
};

/// Traces a fit on the last data set sent. Carries the same descriptor as a trial.
struct TraceMessage {
  FitOptions options;        ///< as in TrialMessage
  std::int64_t restart = 0;  ///< index of the restart whose initial centroids are used
  bool replay = false;
  bool warm_up = true;
};

/// Seeds with the kernels of the backend on the last data set sent.
struct SeedMessage {
  /// Only clusters, restarts and seeding are sent; the seeding method chooses samples.
  FitOptions options;
  std::int64_t first_restart = 0;  ///< the first of the `options.restarts` restarts that are seeded
};

/// A worker's answer.
struct Answer {
  std::string failure;  ///< empty: success
  double start_ms = 0;  ///< answer to `start`: time since StartMessage::begun
  bool has_outcome = false;
  TrialOutcome outcome;     ///< of a trial
  bool releasing = false;   ///< the session of a trial's untimed fit is being released
  bool has_trace = false;   ///< the answer carries a descriptor of the trace in shared memory
  bool cancelled = false;   ///< the traced fit was cancelled; a trial reports this in its outcome
  bool has_seeds = false;   ///< the answer carries a descriptor of the chosen rows, int64 each
  double seeding_ms = 0;    ///< SeededRows::ms, with has_seeds
  bool no_kernels = false;  ///< the backend offers no seeding kernels
  /// Not empty: this message only reports the progress of a stage; the answer follows.
  std::string stage;
  std::int64_t done = 0;   ///< steps of the stage that are complete
  std::int64_t total = 0;  ///< all its steps
};

enum class MessageKind { start, dataset, forget, trial, trace, settle, finish, seed, prepare };

std::string start_message(const StartMessage& message);
/// The worker answers when its backend is ready for the first data set and its threads are idle.
std::string prepare_message();
/// Sent with the descriptors of values and statistics.
std::string dataset_message(const nlohmann::ordered_json& description);
/// The worker releases its data set.
std::string forget_message();
std::string trial_message(const TrialMessage& message);
std::string trace_message(const TraceMessage& message);
std::string seed_message(const SeedMessage& message);
/// The worker answers when its threads are idle, or after machine::kMaxSpinTime.
std::string settle_message();
/// The last message: the worker releases its backend.
std::string finish_message();

/// Answers of a worker; read_answer() reads each of them.
std::string answer_done();
/// Of `start`.
std::string answer_started(double ms);
std::string answer_releasing();
std::string answer_failure(std::string_view failure);
std::string answer_outcome(const TrialOutcome& outcome);
/// Sent with the descriptor of share_trace().
std::string answer_trace();
std::string answer_cancelled();
/// Sent with the descriptor of the rows, make_shared_memory().
std::string answer_seeds(double ms);
std::string answer_no_kernels();
/// May precede the answer to a trial or a seeding any number of times.
std::string answer_progress(std::string_view stage, std::int64_t done, std::int64_t total);

/// Parses a received message. This function and those below throw InputError, one sentence, for a
/// malformed message.
nlohmann::ordered_json parse_message(std::string_view text);
MessageKind message_kind(const nlohmann::ordered_json& message);
StartMessage read_start_message(const nlohmann::ordered_json& message);
const nlohmann::ordered_json& read_dataset_message(const nlohmann::ordered_json& message);
TrialMessage read_trial_message(const nlohmann::ordered_json& message);
TraceMessage read_trace_message(const nlohmann::ordered_json& message);
SeedMessage read_seed_message(const nlohmann::ordered_json& message);
Answer read_answer(std::string_view text);

}  // namespace lloyd::experiment
