#include "experiment/worker/worker_runner.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/plan/trial_order.hpp"
#include "experiment/worker/shared_trace.hpp"
#include "external/backend.hpp"
#include "ipc/shared_memory.hpp"
#include "machine/processors/affinity.hpp"
#include "machine/processors/cpu.hpp"
#include "machine/processors/threads.hpp"
#include "text/numbers.hpp"
#include "workers/worker_command.hpp"

namespace lloyd::experiment {
namespace {

using apps::WorkerProcess;
using Clock = WorkerProcess::Clock;
using Event = WorkerProcess::Event;

// A fit that is asked to end does so with its iteration.
constexpr std::chrono::seconds kCancelGrace{5};

// Beyond the time that a worker gives its threads.
constexpr std::chrono::seconds kSettleGrace{5};

constexpr std::size_t kQuoted = 80;  // bytes

// What a worker releases.
constexpr std::string_view kSession = "the session";
constexpr std::string_view kBackend = "the backend";

// Descriptors that a worker takes here, and what the rest of this process is left.
constexpr std::int64_t kWorkerDescriptors = 2;
constexpr std::int64_t kOtherDescriptors = 48;

// Beyond what an external program is given to close a data set, for its worker to say so.
constexpr std::chrono::seconds kCloseGrace{5};

std::chrono::milliseconds shorter(std::chrono::milliseconds limit, std::optional<double> seconds) {
  if (!seconds || *seconds >= std::chrono::duration<double>(limit).count()) return limit;
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*seconds));
}

bool runs_program(const Variant& variant) {
  return external::is_program(variant.backend->path());
}

// What is to blame for what happens to a worker's process.
std::string subject_of(const Variant& variant) {
  if (!runs_program(variant)) return "the plugin";
  return fmt::format("the program {}", variant.backend->path().string());
}

std::size_t max_workers() {
  const std::int64_t rest = apps::descriptor_limit() - kOtherDescriptors;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(
      rest / kWorkerDescriptors, 1, static_cast<std::int64_t>(WorkerRunner::kMaxWorkers)));
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

// They end side by side.
void WorkerRunner::end_idle(const Worker* busy) {
  for (auto& [variant, worker] : workers_) {
    if (&worker != busy) worker.process.hang_up();
  }
}

const Dataset& WorkerRunner::dataset(const DatasetSetting& setting) {
  std::string key = setting.key();
  if (shared_.dataset != nullptr && key == dataset_key_) return *shared_.dataset;
  // Two are not to be in memory, here or in a worker that is idle.
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

// What to say of a worker that has no answer; `event` says why it has none.
std::string WorkerRunner::describe_end(const Worker& worker, Event event) const {
  const WorkerProcess& process = worker.process;
  const Isolation& isolation = plan().isolation;
  const std::string subject = subject_of(worker.variant);
  std::string text;
  if (event == Event::answer) {
    text = fmt::format("{}'s process answered something else: {}", subject,
                       apps::printable_ascii(process.answer().substr(0, kQuoted)));
  } else if (event == Event::ended && runs_program(worker.variant)) {
    text = fmt::format("the process that serves {} ended: {}", subject, process.end().text());
  } else if (event == Event::ended) {
    text = fmt::format("the plugin ended its process: {}", process.end().text());
  } else if (event == Event::lost) {
    text = fmt::format("{} closed the socket of its process", subject);
  } else if (event == Event::timed_out) {
    text = fmt::format("it took longer than {:g} s", isolation.timeout.value_or(0));
  } else {
    text = fmt::format("it used {} of memory, 'memory_limit' is {}",
                       format_bytes(process.memory_bytes()),
                       format_bytes(isolation.memory_limit.value_or(0)));
  }
  return apps::with_last_words(text, process.last_words());
}

Answer WorkerRunner::ask_for(Worker& worker, const Limits& limits) {
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

// The next answer. Where the run is to stop, the worker is told so and given a moment to answer.
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

void WorkerRunner::start(Worker& worker, const Limits& limits) {
  const Variant& of = worker.variant;
  const StartMessage message{of.backend->path().string(), of.parameters.texts(),
                             plan().isolation.cpus, identity_of(*of.backend), release_limit_};
  const Clock::time_point deadline = Clock::now() + plugin_limit_;
  Limits loading = limits;
  if (!loading.deadline || deadline < *loading.deadline) loading.deadline = deadline;
  const Answer answer = [&] {
    try {
      return ask(worker, start_message(message), {}, loading);
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
}

void WorkerRunner::make_room() {
  if (workers_.size() < max_workers()) return;
  const auto oldest = std::min_element(
      workers_.begin(), workers_.end(),
      [](const auto& a, const auto& b) { return a.second.last_trial < b.second.last_trial; });
  const std::string& label = oldest->second.variant.label;
  const std::string failure = end(oldest->first);
  if (!failure.empty()) notes_.push_back(fmt::format("{}: {}", label, failure));
}

WorkerRunner::Worker& WorkerRunner::worker_of(std::size_t variant, const Limits& limits) {
  auto found = workers_.find(variant);
  if (found != workers_.end() && found->second.process.has_ended()) {
    workers_.erase(found);  // between two trials, and so at the cost of none
    found = workers_.end();
  }
  if (found == workers_.end()) {
    make_room();
    const Clock::time_point begin = Clock::now();
    found = workers_
                .try_emplace(variant, plan().variants[variant], command_,
                             scratch_ ? scratch_->path() : std::filesystem::path())
                .first;
    start(found->second, limits);
    found->second.start_ms =
        std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  Worker& worker = found->second;
  worker.last_trial = ++trials_;
  if (!worker.has_dataset) {
    const Answer answer = ask(worker, dataset_message(shared_.description),
                              {shared_.values.get(), shared_.statistics.get()}, limits);
    if (!answer.failure.empty()) throw Lost(TrialStatus::failed, answer.failure);
    worker.has_dataset = true;
  }
  return worker;
}

// Of a trial or a trace that begins now.
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

// Of a release that begins now.
WorkerRunner::Limits WorkerRunner::release_limits() const {
  Limits limits;
  limits.memory_bytes = plan().isolation.memory_limit;
  limits.stop = [this] { return observer().stop_requested(); };
  limits.deadline = Clock::now() + release_limit_;
  return limits;
}

// Waits until a worker has answered that it has released something. Empty where it has, or where
// the run is to stop and nobody waits any more; else what went wrong.
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

// The next trial is to have the machine to itself.
void WorkerRunner::settle(Worker& worker) {
  Limits limits;
  limits.deadline = Clock::now() + machine::kMaxSpinTime + kSettleGrace;
  ask(worker, settle_message(), {}, limits);
}

// Ends a worker that is idle. Returns what went wrong when it released its backend.
std::string WorkerRunner::end(std::size_t variant) {
  Worker& worker = workers_.at(variant);
  std::string failure;
  if (const auto failed = failed_ends_.find(variant); failed != failed_ends_.end()) {
    failure = "the backend was not released, since earlier " + failed->second;
  } else {
    worker.process.send(finish_message());
    failure = await_release(worker, kBackend, release_limits());
    if (!failure.empty()) failed_ends_.emplace(variant, failure);
  }
  if (failure.empty()) {
    workers_.erase(variant);
  } else {
    let_go(variant);
  }
  return failure;
}

// After a worker's answer to a trial or a trace: whatever happens to the worker now is at the cost
// of neither. Returns what went wrong with the release of the session or, where each trial has a
// worker of its own, of the backend.
std::string WorkerRunner::conclude(std::size_t variant) {
  if (const auto failed = failed_releases_.find(variant); failed != failed_releases_.end()) {
    let_go(variant);
    return "the session was not released, since earlier " + failed->second;
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

// Of a worker that has no answer. There may be none yet.
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
  message.processor = processor_of_round(plan(), task.fit.setting, record.repeat, processors_);
  message.one_session = failed_releases_.contains(variant);
  Answer answer = ask(worker, trial_message(message),
                      {starts_descriptor(task.fit.setting, task.starts)}, limits);
  if (answer.releasing) {
    // The release has a deadline of its own, and its time is not the trial's: a release that hangs
    // is told as one, also where `timeout` is shorter than what a release is given.
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
  try {
    try {
      return attempt_once(task, record);
    } catch (const LostInRelease& lost) {
      // Nothing is wrong with the fits of this backend: once more, with one session for both.
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
    // They release side by side.
    const Limits limits = release_limits();
    for (auto& [variant, worker] : workers_) {
      if (failed_ends_.contains(variant)) continue;
      const std::string failure = await_release(worker, kBackend, limits);
      if (failure.empty()) continue;
      worker.process.kill();
      notes_.push_back(fmt::format("{}: {}", worker.variant.label, failure));
    }
  }
  for (const std::string& text : std::exchange(notes_, {})) note(text);
}

// Of a worker that reports no failure.
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
      notes_.push_back(
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
