#include "experiment/worker_runner.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/numbers.hpp"
#include "experiment/shared_trace.hpp"
#include "experiment/trial_order.hpp"
#include "external/backend.hpp"
#include "machine/affinity.hpp"
#include "machine/cpu.hpp"
#include "machine/threads.hpp"
#include "shared_memory.hpp"
#include "worker_command.hpp"

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

// Descriptors that a worker takes here, and what the rest of this process is left.
constexpr std::int64_t kWorkerDescriptors = 2;
constexpr std::int64_t kOtherDescriptors = 48;
// Of initial centroids that are kept in shared memory, each with a descriptor.
constexpr std::size_t kMaxSharedStarts = 8;

std::size_t max_workers() {
  const std::int64_t rest = apps::descriptor_limit() - kOtherDescriptors;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(
      rest / kWorkerDescriptors, 1, static_cast<std::int64_t>(WorkerRunner::kMostWorkers)));
}

}  // namespace

WorkerRunner::WorkerRunner(const Plan& plan, DatasetCache& datasets, Observer& observer,
                           std::string run, Machine machine, std::vector<std::string> command,
                           std::chrono::seconds plugin_limit)
    : SharedStartRunner(plan, observer, std::move(run), std::move(machine)),
      datasets_(datasets),
      command_(std::move(command)),
      plugin_limit_(plugin_limit),
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
  starts_.clear();
  shared_ = {};
  shared_ = share_dataset(datasets_.take(setting));
  dataset_key_ = std::move(key);
  return *shared_.dataset;
}

int WorkerRunner::starts_descriptor(const Starts& starts) {
  const auto known = starts_.find(&starts);
  if (known != starts_.end()) return known->second.get();
  if (starts_.size() >= kMaxSharedStarts) starts_.clear();
  std::vector<double> all;
  for (const std::vector<double>& start : starts.centroids) {
    all.insert(all.end(), start.begin(), start.end());
  }
  apps::Descriptor memory =
      apps::make_shared_memory(all.data(), static_cast<std::int64_t>(all.size() * sizeof(double)));
  return starts_.emplace(&starts, std::move(memory)).first->second.get();
}

// What to say of a worker that has no answer; `event` says why it has none.
std::string WorkerRunner::describe_end(const Worker& worker, Event event) const {
  const WorkerProcess& process = worker.process;
  const Isolation& isolation = plan().isolation;
  std::string text;
  if (event == Event::answer) {
    text = fmt::format("the plugin's process answered something else: {}",
                       apps::printable_ascii(process.answer().substr(0, kQuoted)));
  } else if (event == Event::ended) {
    text = fmt::format("the plugin ended its process: {}", process.end().text());
  } else if (event == Event::lost) {
    text = "the plugin closed the socket of its process";
  } else if (event == Event::timed_out) {
    text = fmt::format("it took longer than {:g} s", isolation.timeout.value_or(0));
  } else {
    text = fmt::format("it used {} of memory, 'memory_limit' is {}",
                       format_bytes(process.memory_bytes()),
                       format_bytes(isolation.memory_limit.value_or(0)));
  }
  const std::string words = process.last_words();
  return words.empty() ? text : fmt::format("{}; last words: {}", text, words);
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

void WorkerRunner::start(Worker& worker, std::size_t variant, const Limits& limits) {
  const Variant& of = plan().variants[variant];
  const StartMessage message{of.backend->path().string(), of.parameters.texts(),
                             plan().isolation.cpus, identity_of(*of.backend)};
  const Clock::time_point deadline = Clock::now() + plugin_limit_;
  Limits loading = limits;
  if (!loading.deadline || deadline < *loading.deadline) loading.deadline = deadline;
  const Answer answer = [&] {
    try {
      return ask(worker, start_message(message), {}, loading);
    } catch (const Lost& lost) {
      if (lost.status != TrialStatus::timed_out || loading.deadline == limits.deadline) throw;
      throw Lost(TrialStatus::failed,
                 fmt::format("the plugin did not load again within {} s; --plugin-timeout gives it "
                             "longer",
                             plugin_limit_.count()));
    }
  }();
  if (!answer.failure.empty()) {
    throw Lost(TrialStatus::failed,
               fmt::format("the plugin could not be loaded again: {}", answer.failure));
  }
}

void WorkerRunner::make_room() {
  if (workers_.size() < max_workers()) return;
  workers_.erase(std::min_element(
      workers_.begin(), workers_.end(),
      [](const auto& a, const auto& b) { return a.second.last_trial < b.second.last_trial; }));
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
    found =
        workers_
            .try_emplace(variant, command_, scratch_ ? scratch_->path() : std::filesystem::path())
            .first;
    start(found->second, variant, limits);
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

// After a worker's answer: the next trial is to have the machine to itself. Whatever happens to the
// worker now is at the cost of no trial.
void WorkerRunner::settle(std::size_t variant) {
  Limits limits;
  limits.deadline = Clock::now() + machine::kMostSpinning + kSettleGrace;
  try {
    ask(workers_.at(variant), settle_message(), {}, limits);
    if (plan().isolation.mode == IsolateMode::trial) workers_.erase(variant);
  } catch (const Lost&) {
    let_go(variant);
  }
}

// Of a worker that has no answer. There may be none yet.
void WorkerRunner::let_go(std::size_t variant) {
  const auto found = workers_.find(variant);
  if (found == workers_.end()) return;
  found->second.process.kill();
  workers_.erase(found);
}

TrialOutcome WorkerRunner::attempt(const Task& task, Record& record) {
  const std::size_t variant = task.fit.variant;
  const Limits limits = this->limits();
  TrialOutcome outcome;
  try {
    Worker& worker = worker_of(variant, limits);
    record.start_ms = worker.start_ms;
    TrialMessage message;
    message.options = plan().settings[task.fit.setting].setting.options;
    message.probe = task.probe || !worker.warm.contains(task.fit.setting);
    message.check_result = task.check_result;
    message.processor = processor_of_round(plan(), task.fit.setting, record.repeat, processors_);
    const Answer answer =
        ask(worker, trial_message(message), {starts_descriptor(task.starts)}, limits);
    if (!answer.has_outcome) {
      throw Lost(TrialStatus::failed,
                 answer.failure.empty() ? describe_end(worker, Event::answer) : answer.failure);
    }
    worker.warm.insert(task.fit.setting);
    outcome = answer.outcome;
    settle(variant);
  } catch (const Lost& lost) {
    let_go(variant);
    outcome.cancelled = observer().stop_requested();
    outcome.failure = lost.what();
    record.status = lost.status;
  }
  return outcome;
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
    const Answer answer =
        ask(worker, trace_message(message), {starts_descriptor(task.starts)}, limits);
    if (answer.cancelled) throw Cancelled();
    std::optional<Trace> trace;
    if (answer.failure.empty()) {
      trace = take_trace(worker, answer, message.options.clusters);
      worker.warm.insert(task.fit.setting);
    }
    settle(variant);
    if (!trace) throw Error(answer.failure);
    return std::move(*trace);
  } catch (const Lost& lost) {
    let_go(variant);
    if (observer().stop_requested()) throw Cancelled();
    throw Error(lost.what());
  }
}

}  // namespace lloyd::experiment
