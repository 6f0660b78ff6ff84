#include "experiment/worker/worker_runner.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/plan/trial_order.hpp"
#include "experiment/worker/seeding_worker.hpp"
#include "experiment/worker/shared_trace.hpp"
#include "external/backend.hpp"
#include "ipc/shared_memory.hpp"
#include "machine/processors/affinity.hpp"
#include "machine/processors/cpu.hpp"
#include "machine/processors/threads.hpp"
#include "process/exit_status.hpp"
#include "text/numbers.hpp"
#include "workers/worker_command.hpp"

namespace lloyd::experiment {
namespace {

using apps::WorkerProcess;
using Event = WorkerProcess::Event;

// Time to answer after a cancellation; a fit stops at the end of its iteration.
constexpr std::chrono::seconds kCancelGrace{5};

// Added to the time that a worker waits for its threads to become idle.
constexpr std::chrono::seconds kSettleGrace{5};

constexpr std::size_t kQuoted = 80;  // bytes

constexpr std::string_view kSession = "the session";
constexpr std::string_view kBackend = "the backend";

// Descriptors per worker in this process, and those reserved for everything else.
constexpr std::int64_t kWorkerDescriptors = 2;
constexpr std::int64_t kOtherDescriptors = 48;

// Added to the time that an external program has to close a data set, for the worker's answer.
constexpr std::chrono::seconds kCloseGrace{5};

std::chrono::milliseconds shorter(std::chrono::milliseconds limit, std::optional<double> seconds) {
  if (!seconds || *seconds >= std::chrono::duration<double>(limit).count()) return limit;
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*seconds));
}

bool runs_program(const Variant& variant) {
  return external::is_program(variant.backend->path());
}

// The component to name in messages about a worker's process.
std::string subject_of(const Variant& variant) {
  if (!runs_program(variant)) return "the plugin";
  return fmt::format("the program {}", variant.backend->path().string());
}

std::size_t max_workers() {
  const std::int64_t rest = apps::descriptor_limit() - kOtherDescriptors;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(
      rest / kWorkerDescriptors, 1, static_cast<std::int64_t>(WorkerRunner::kMaxWorkers)));
}

// The message with which Lloyd's handler of faults ended the worker because of a file, see
// install_cleanup_handler(); empty if the plugin ended it.
std::string own_message(const WorkerProcess& process) {
  constexpr std::string_view kPrefix = "lloyd: ";
  const std::string words = process.last_words();
  const apps::ProcessEnd& end = process.end();
  const bool own = !end.signalled && end.code == apps::kBadInput && words.starts_with(kPrefix);
  return own ? words.substr(kPrefix.size()) : std::string();
}

}  // namespace

WorkerRunner::WorkerRunner(const Plan& plan, DatasetCache& datasets, Observer& observer,
                           std::string run, Machine machine, std::vector<std::string> command,
                           std::chrono::seconds plugin_limit)
    : SharedStartRunner(plan, observer, std::move(run), std::move(machine)),
      datasets_(datasets),
      command_(std::move(command)),
      plugin_limit_(plugin_limit),
      release_limit_(shorter(plugin_limit, plan.isolation.timeout)),
      processors_(machine::fastest_processors(
          plan.isolation.cpus.empty() ? machine::processors_at_start() : plan.isolation.cpus)) {
  if (command_.empty()) command_ = apps::worker_command();
  for (const Variant& variant : plan.variants) {
    if (variant.backend != nullptr && external::is_program(variant.backend->path()) && !scratch_) {
      scratch_.emplace();
    }
  }
}

WorkerRunner::~WorkerRunner() {
  end_idle(nullptr);
}

// Workers end concurrently.
void WorkerRunner::end_idle(const Worker* busy) {
  for (auto& [variant, worker] : workers_) {
    if (&worker != busy) worker.process.hang_up();
  }
}

const Dataset& WorkerRunner::dataset(const DatasetSetting& setting) {
  std::string key = setting.key();
  if (shared_.dataset != nullptr && key == dataset_key_) return *shared_.dataset;
  // No process, idle workers included, may hold two data sets.
  for (auto& [variant, worker] : workers_) {
    if (std::exchange(worker.has_dataset, false)) worker.process.send(forget_message());
    worker.warm.clear();
  }
  shared_ = {};
  shared_ = share_dataset(datasets_.take(setting));
  dataset_key_ = std::move(key);
  return *shared_.dataset;
}

int WorkerRunner::starts_descriptor(std::size_t setting, const Starts& starts) {
  if (starts_setting_ == setting) return starts_.get();
  starts_setting_.reset();
  starts_.close();
  std::vector<double> all;
  for (const std::vector<double>& start : starts.centroids) {
    all.insert(all.end(), start.begin(), start.end());
  }
  starts_ =
      apps::make_shared_memory(all.data(), static_cast<std::int64_t>(all.size() * sizeof(double)));
  starts_setting_ = setting;
  return starts_.get();
}

// Describes why a worker has no answer, from `event`.
std::string WorkerRunner::describe_end(const Worker& worker, Event event) const {
  const WorkerProcess& process = worker.process;
  const Isolation& isolation = plan().isolation;
  const std::string subject = subject_of(worker.variant);
  const std::string place = place_of(worker.board.board().call());
  std::string text;
  if (event == Event::answer) {
    text = fmt::format("{}'s process sent an unexpected answer: {}", subject,
                       apps::on_one_line(process.answer().substr(0, kQuoted)));
  } else if (event == Event::ended && runs_program(worker.variant)) {
    text = fmt::format("the process that serves {} ended: {}", subject, process.end().text());
  } else if (event == Event::ended && !own_message(process).empty()) {
    return own_message(process);
  } else if (event == Event::ended) {
    text = fmt::format("the plugin ended its process{}: {}", place, process.end().text());
  } else if (event == Event::lost) {
    text = fmt::format("{} closed the socket of its process", subject);
  } else if (event == Event::timed_out) {
    text = fmt::format("it took longer than {:g} s{}", isolation.timeout.value_or(0), place);
  } else {
    text = fmt::format("it used {} of memory, 'memory_limit' is {}",
                       format_bytes(process.memory_bytes()),
                       format_bytes(isolation.memory_limit.value_or(0)));
  }
  return apps::with_last_words(text, process.last_words());
}

Answer WorkerRunner::ask_for(Worker& worker, const Limits& limits) {
  for (;;) {
    Answer answer = next_answer(worker, limits);
    if (answer.stage.empty()) return answer;
    report_stage(answer.stage, answer.done, answer.total);
  }
}

// Returns the next packet, which may be a report of progress.
Answer WorkerRunner::next_answer(Worker& worker, const Limits& limits) {
  const Event event = worker.process.wait(limits);
  if (event == Event::stopped) throw Cancelled();
  if (event == Event::answer) {
    try {
      return read_answer(worker.process.answer());
    } catch (const InputError&) {
      throw Lost(TrialStatus::failed, describe_end(worker, event));
    }
  }
  throw Lost(event == Event::timed_out ? TrialStatus::timed_out : TrialStatus::failed,
             describe_end(worker, event));
}

Answer WorkerRunner::ask(Worker& worker, const std::string& message,
                         const std::vector<int>& descriptors, const Limits& limits) {
  worker.process.send(message, descriptors);
  return await(worker, limits);
}

// Returns the next answer. If the run is to stop, cancels the worker's fit and waits kCancelGrace
// for the answer.
Answer WorkerRunner::await(Worker& worker, const Limits& limits) {
  try {
    return ask_for(worker, limits);
  } catch (const Cancelled&) {
    worker.process.cancel();
    end_idle(&worker);  // the run is over
    Limits grace = limits;
    grace.deadline = Clock::now() + kCancelGrace;
    grace.stop = {};
    return ask_for(worker, grace);
  }
}

void WorkerRunner::send_start(Worker& worker) const {
  const Variant& of = worker.variant;
  const apps::Descriptor board = worker.board.take_descriptor();
  worker.process.send(
      start_message({of.backend->path().string(), of.parameters.texts(), plan().isolation.cpus,
                     identity_of(*of.backend), release_limit_, worker.begun}),
      {board.get()});
}

void WorkerRunner::await_start(Worker& worker, const Limits& limits) {
  const Variant& of = worker.variant;
  const Clock::time_point deadline = Clock::now() + plugin_limit_;
  Limits loading = limits;
  if (!loading.deadline || deadline < *loading.deadline) loading.deadline = deadline;
  const Answer answer = [&] {
    try {
      return await(worker, loading);
    } catch (const Lost& lost) {
      if (lost.status != TrialStatus::timed_out || loading.deadline == limits.deadline) throw;
      throw Lost(TrialStatus::failed,
                 fmt::format("{} did not load again within {} s; --plugin-timeout gives it longer",
                             subject_of(of), plugin_limit_.count()));
    }
  }();
  if (!answer.failure.empty()) {
    throw Lost(TrialStatus::failed,
               fmt::format("{} could not be loaded again: {}", subject_of(of), answer.failure));
  }
  worker.start_ms = answer.start_ms;
}

WorkerRunner::Worker& WorkerRunner::add_worker(std::size_t variant) {
  return workers_
      .try_emplace(variant, plan().variants[variant], command_,
                   scratch_ ? scratch_->path() : std::filesystem::path())
      .first->second;
}

// Programs load their packages while the data set and the initial centroids are made. With one
// process per trial, only the first trials could gain from it.
void WorkerRunner::prepare(std::size_t setting) {
  if (plan().isolation.mode != IsolateMode::worker) return;
  for (std::size_t v = 0; v < plan().variants.size(); ++v) {
    const auto& backend = plan().variants[v].backend;
    if (backend == nullptr || !external::prepares(*backend) || !expects_trials_of(v) ||
        workers_.contains(v) || !plan().fit(setting, v).skip.empty() ||
        workers_.size() >= max_workers()) {
      continue;
    }
    try {
      Worker& worker = add_worker(v);
      worker.preparing = true;
      send_start(worker);
      worker.process.send(prepare_message());
    } catch (const Error&) {  // the variant's own trial tries again and reports it
      return;
    }
  }
}

// No trial may run while a program loads its packages.
void WorkerRunner::await_prepared() {
  for (std::size_t v = 0; v < plan().variants.size(); ++v) {
    const auto found = workers_.find(v);
    if (found == workers_.end() || !std::exchange(found->second.preparing, false)) continue;
    // Not the time limit of a trial: several programs may be loading at once.
    Limits loading = limits();
    loading.deadline = Clock::now() + plugin_limit_;
    try {
      await_start(found->second, loading);
      await(found->second, loading);
    } catch (const Lost&) {  // the variant's own trial tries again and reports it
      let_go(v);
    }
  }
}

void WorkerRunner::make_room() {
  if (workers_.size() < max_workers()) return;
  const auto oldest = std::min_element(
      workers_.begin(), workers_.end(),
      [](const auto& a, const auto& b) { return a.second.last_trial < b.second.last_trial; });
  const std::string& label = oldest->second.variant.label;
  const std::string failure = end(oldest->first);
  if (!failure.empty()) add_note(fmt::format("{}: {}", label, failure));
}

WorkerRunner::Worker& WorkerRunner::worker_of(std::size_t variant, const Limits& limits) {
  auto found = workers_.find(variant);
  if (found != workers_.end() && found->second.process.has_ended()) {
    workers_.erase(found);  // it ended between trials, so no trial fails
    found = workers_.end();
  }
  if (found == workers_.end()) {
    make_room();
    Worker& added = add_worker(variant);
    send_start(added);
    await_start(added, limits);
  }
  Worker& worker = workers_.at(variant);
  worker.last_trial = ++trials_;
  if (!worker.has_dataset) {
    const Answer answer =
        ask(worker, dataset_message(shared_.description), shared_.descriptors(), limits);
    if (!answer.failure.empty()) throw Lost(TrialStatus::failed, answer.failure);
    worker.has_dataset = true;
  }
  return worker;
}

// The limits of a trial or a trace that begins now.
WorkerRunner::Limits WorkerRunner::limits() const {
  const Isolation& isolation = plan().isolation;
  Limits limits;
  limits.memory_bytes = isolation.memory_limit;
  limits.stop = [this] { return observer().stop_requested(); };
  if (isolation.timeout) {
    limits.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(*isolation.timeout));
  }
  return limits;
}

// The limits of a release that begins now.
WorkerRunner::Limits WorkerRunner::release_limits() const {
  Limits limits;
  limits.memory_bytes = plan().isolation.memory_limit;
  limits.stop = [this] { return observer().stop_requested(); };
  limits.deadline = Clock::now() + release_limit_;
  return limits;
}

// Waits until a worker answers that it has released `what`. Returns the failure; empty on success,
// and if the run is to stop, which ends the wait.
std::string WorkerRunner::await_release(Worker& worker, std::string_view what,
                                        const Limits& limits) {
  const bool program = runs_program(worker.variant);
  Limits waiting = limits;
  if (program) *waiting.deadline += kCloseGrace;
  const Event event = worker.process.wait(waiting);
  if (event == Event::stopped) return {};
  if (event == Event::answer) {
    try {
      return read_answer(worker.process.answer()).failure;
    } catch (const InputError&) {
      return describe_end(worker, event);
    }
  }
  if (program || event == Event::lost || event == Event::over_memory) {
    return fmt::format("when {} was released: {}", what, describe_end(worker, event));
  }
  const std::string how = event == Event::ended
                              ? "ended the process: " + worker.process.end().text()
                              : fmt::format("did not return within {:g} s",
                                            std::chrono::duration<double>(release_limit_).count());
  return apps::with_last_words(fmt::format("release() of {} {}", what, how),
                               worker.process.last_words());
}

// Waits until the process of a worker has ended, whose backend was released. Returns the failure;
// empty on success, and if the run is to stop.
std::string WorkerRunner::await_exit(Worker& worker) {
  Limits limits = release_limits();
  limits.memory_bytes.reset();
  const Event event = worker.process.wait_for_end(limits);
  std::string text;
  if (event == Event::timed_out) {
    text = fmt::format("the plugin did not let its process end within {:g} s; its work was done",
                       std::chrono::duration<double>(release_limit_).count());
  } else if (event == Event::ended && !worker.process.end().clean()) {
    text = fmt::format("the plugin ended its process, whose work was done: {}",
                       worker.process.end().text());
  } else {
    return {};
  }
  return apps::with_last_words(text, worker.process.last_words());
}

// Notes a failure in the exit of a worker's process once for each variant. It costs no trial.
void WorkerRunner::note_exit(std::size_t variant, Worker& worker) {
  if (runs_program(worker.variant) || failed_exits_.contains(variant)) return;
  const std::string failure = await_exit(worker);
  if (failure.empty()) return;
  worker.process.kill();
  failed_exits_.insert(variant);
  add_note(fmt::format("{}: {}", worker.variant.label, failure));
}

// Waits until the worker's threads are idle, so that the next trial has the machine to itself.
void WorkerRunner::settle(Worker& worker) {
  Limits limits;
  limits.deadline = Clock::now() + machine::kMaxSpinTime + kSettleGrace;
  ask(worker, settle_message(), {}, limits);
}

// Ends an idle worker. Returns the failure to release its backend, or an empty text.
std::string WorkerRunner::end(std::size_t variant) {
  Worker& worker = workers_.at(variant);
  std::string failure;
  if (const auto failed = failed_ends_.find(variant); failed != failed_ends_.end()) {
    failure = "the backend was not released: in an earlier trial, " + failed->second;
  } else {
    worker.process.send(finish_message());
    failure = await_release(worker, kBackend, release_limits());
    if (!failure.empty()) failed_ends_.emplace(variant, failure);
  }
  if (failure.empty()) {
    note_exit(variant, worker);
    workers_.erase(variant);
  } else {
    let_go(variant);
  }
  return failure;
}

// Releases the session after the answer to a trial or a trace, so that a failure affects neither.
// Returns the failure to release the session or, if each trial has its own worker, the backend.
std::string WorkerRunner::conclude(std::size_t variant) {
  if (const auto failed = failed_releases_.find(variant); failed != failed_releases_.end()) {
    let_go(variant);
    return "the session was not released: in an earlier trial, " + failed->second;
  }
  Worker& worker = workers_.at(variant);
  std::string failure = await_release(worker, kSession, release_limits());
  if (observer().stop_requested() || (!failure.empty() && !runs_program(worker.variant))) {
    if (!failure.empty()) failed_releases_.emplace(variant, failure);
    let_go(variant);
    return failure;
  }
  try {
    settle(worker);
    if (plan().isolation.mode == IsolateMode::trial) {
      const std::string end_failure = end(variant);
      if (failure.empty()) failure = end_failure;
    }
  } catch (const Lost&) {
    let_go(variant);
  }
  return failure;
}

// Kills a worker that does not answer, if there is one.
void WorkerRunner::let_go(std::size_t variant) {
  const auto found = workers_.find(variant);
  if (found == workers_.end()) return;
  found->second.process.kill();
  workers_.erase(found);
}

TrialOutcome WorkerRunner::attempt_once(const Task& task, Record& record) {
  const std::size_t variant = task.fit.variant;
  Limits limits = this->limits();
  Worker& worker = worker_of(variant, limits);
  record.start_ms = worker.start_ms;
  TrialMessage message;
  message.options = plan().settings[task.fit.setting].setting.options;
  message.probe = task.probe || !worker.warm.contains(task.fit.setting);
  message.check_result = task.check_result;
  message.checks = plan().checks;
  message.silhouette = plan().silhouette;
  message.cold_l2 = plan().settings[task.fit.setting].setting.cold_l2;
  message.counters = plan().counters;
  message.checked_before.assign(task.checked_before.begin(), task.checked_before.end());
  message.processor = processor_of_round(plan(), task.fit.setting, record.repeat, processors_);
  message.one_session = failed_releases_.contains(variant);
  Answer answer = ask(worker, trial_message(message),
                      {starts_descriptor(task.fit.setting, task.starts)}, limits);
  if (answer.releasing) {
    // The release has its own deadline and does not count as time of the trial, so that a hanging
    // release is reported as such even if `timeout` is shorter than the release limit.
    const Clock::time_point begin = Clock::now();
    const std::string failure = await_release(worker, kSession, release_limits());
    if (!failure.empty()) throw LostInRelease(failure);
    if (limits.deadline) *limits.deadline += Clock::now() - begin;
    answer = await(worker, limits);
  }
  if (!answer.has_outcome) {
    throw Lost(TrialStatus::failed,
               answer.failure.empty() ? describe_end(worker, Event::answer) : answer.failure);
  }
  worker.warm.insert(task.fit.setting);
  record.release_failure = conclude(variant);
  return answer.outcome;
}

TrialOutcome WorkerRunner::attempt(const Task& task, Record& record) {
  const std::size_t variant = task.fit.variant;
  await_prepared();
  try {
    try {
      return attempt_once(task, record);
    } catch (const LostInRelease& lost) {
      // The fits of this backend work, only its release does not: try again with one session for
      // both fits.
      let_go(variant);
      failed_releases_.emplace(variant, lost.what());
      return attempt_once(task, record);
    }
  } catch (const Lost& lost) {
    let_go(variant);
    TrialOutcome outcome;
    outcome.cancelled = observer().stop_requested();
    outcome.failure = lost.what();
    record.status = lost.status;
    return outcome;
  }
}

void WorkerRunner::finish(const std::function<void(const std::string&)>& note) {
  if (!observer().stop_requested()) {
    for (auto& [variant, worker] : workers_) {
      if (!failed_ends_.contains(variant)) worker.process.send(finish_message());
    }
    // Workers release their backends concurrently.
    const Limits limits = release_limits();
    for (auto& [variant, worker] : workers_) {
      if (failed_ends_.contains(variant)) continue;
      const std::string failure = await_release(worker, kBackend, limits);
      if (failure.empty()) {
        worker.process.hang_up();
        continue;
      }
      worker.process.kill();
      failed_ends_.emplace(variant, failure);
      add_note(fmt::format("{}: {}", worker.variant.label, failure));
    }
    for (auto& [variant, worker] : workers_) {
      if (!failed_ends_.contains(variant)) note_exit(variant, worker);
    }
  }
  for (const std::string& text : take_notes()) note(text);
}

std::optional<SeededRows> WorkerRunner::seed_with(
    const std::shared_ptr<const LoadedBackend>& backend, const FitOptions& options) {
  const Dataset& data = *shared_.dataset;
  const SeedingProcess process{
      command_,
      plan().isolation,
      plugin_limit_,
      seeding_limit(seeding_work(options, data.samples(), data.features())),
      [this] { return observer().stop_requested(); },
      [&](std::int64_t done, std::int64_t total) {
        report_stage(fmt::format("seeding with {}", backend->name()), done, total);
      }};
  return seed_in_worker(*backend, shared_, options, process);
}

// Reads the trace from an answer without a failure.
Trace WorkerRunner::take_trace(const Worker& worker, const Answer& answer,
                               std::int64_t clusters) const {
  if (!answer.has_trace) throw Lost(TrialStatus::failed, describe_end(worker, Event::answer));
  const std::vector<apps::Descriptor>& descriptors = worker.process.descriptors();
  try {
    return receive_trace(descriptors.empty() ? -1 : descriptors.front().get(), clusters);
  } catch (const Error& error) {
    throw Lost(TrialStatus::failed,
               fmt::format("the plugin's process answered with no trace: {}", error.what()));
  }
}

Trace WorkerRunner::watch(const TraceTask& task) {
  const std::size_t variant = task.fit.variant;
  const Limits limits = this->limits();
  try {
    Worker& worker = worker_of(variant, limits);
    TraceMessage message;
    message.options = plan().settings[task.fit.setting].setting.options;
    message.restart = task.restart;
    message.replay = task.replay;
    message.warm_up = !worker.warm.contains(task.fit.setting);
    const Answer answer = ask(worker, trace_message(message),
                              {starts_descriptor(task.fit.setting, task.starts)}, limits);
    if (answer.cancelled) throw Cancelled();
    std::optional<Trace> trace;
    if (answer.failure.empty()) {
      trace = take_trace(worker, answer, message.options.clusters);
      worker.warm.insert(task.fit.setting);
    }
    const std::string release_failure = conclude(variant);
    if (!release_failure.empty()) {
      add_note(
          fmt::format("{}: after a trace, {}", plan().variants[variant].label, release_failure));
    }
    if (!trace) throw Error(answer.failure);
    return std::move(*trace);
  } catch (const Lost& lost) {
    let_go(variant);
    if (observer().stop_requested()) throw Cancelled();
    throw Error(lost.what());
  }
}

}  // namespace lloyd::experiment
