// WorkerRunner: runs trials in processes of their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/run/trial.hpp"
#include "experiment/worker/shared_dataset.hpp"
#include "experiment/worker/worker_protocol.hpp"
#include "isolated/plugins.hpp"
#include "process/scratch_folder.hpp"
#include "workers/worker_command.hpp"
#include "workers/worker_process.hpp"

namespace lloyd::experiment {

/// One worker for each backend and parameter set, or for each trial, as the plan's isolation says.
/// Whatever happens to a worker costs the trial that it runs, or the trace that it makes, and the
/// next one has a new worker.
/// The untimed fit of one iteration comes first in every process.
class WorkerRunner final : public SharedStartRunner {
 public:
  /// `command` starts a worker; empty: this program's own. `plugin_limit` is for a worker to load
  /// its plugin.
  WorkerRunner(const Plan& plan, DatasetCache& datasets, Observer& observer, std::string run,
               Machine machine, std::vector<std::string> command = {},
               std::chrono::seconds plugin_limit = std::chrono::seconds(isolated::kPluginTimeout));
  ~WorkerRunner() override;

  void finish(const std::function<void(const std::string&)>& note) override;

  /// Workers that there are at most; beyond that the one that was idle for longest is ended. Fewer
  /// where this process may have few descriptors.
  static constexpr std::size_t kMaxWorkers = 32;

 private:
  struct Worker {
    Worker(const Variant& its_variant, const std::vector<std::string>& command,
           const std::filesystem::path& scratch)
        : variant(its_variant), process(command, apps::kWorkerSocket, scratch) {}
    const Variant& variant;
    apps::WorkerProcess process;
    double start_ms = 0;
    bool has_dataset = false;
    std::set<std::size_t> warm;  ///< settings whose untimed fit it has made
    std::int64_t last_trial = 0;
  };
  /// How a trial ended that its worker has no answer for.
  struct Lost : std::runtime_error {
    Lost(TrialStatus how, const std::string& reason) : std::runtime_error(reason), status(how) {}
    TrialStatus status;
  };
  /// A worker that was lost while it released the session of a trial's untimed fit.
  struct LostInRelease : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  using Limits = apps::WorkerProcess::Limits;

  const Dataset& dataset(const DatasetSetting& setting) override;
  TrialOutcome attempt(const Task& task, Record& record) override;
  Trace watch(const TraceTask& task) override;

  Limits limits() const;
  Limits release_limits() const;
  Worker& worker_of(std::size_t variant, const Limits& limits);
  void start(Worker& worker, const Limits& limits);
  void make_room();
  void end_idle(const Worker* busy);
  TrialOutcome attempt_once(const Task& task, Record& record);
  std::string conclude(std::size_t variant);
  std::string await_release(Worker& worker, std::string_view what, const Limits& limits);
  void settle(Worker& worker);
  std::string end(std::size_t variant);
  void let_go(std::size_t variant);
  int starts_descriptor(std::size_t setting, const Starts& starts);
  Answer ask(Worker& worker, const std::string& message, const std::vector<int>& descriptors,
             const Limits& limits);
  Answer await(Worker& worker, const Limits& limits);
  Answer ask_for(Worker& worker, const Limits& limits);
  Trace take_trace(const Worker& worker, const Answer& answer, std::int64_t clusters) const;
  std::string describe_end(const Worker& worker, apps::WorkerProcess::Event event) const;

  DatasetCache& datasets_;
  std::vector<std::string> command_;
  std::chrono::seconds plugin_limit_;
  std::chrono::milliseconds release_limit_;
  std::vector<int> processors_;  ///< that timed fits begin on
  std::string dataset_key_;
  SharedDataset shared_;
  apps::Descriptor starts_;  ///< of the initial centroids of the setting that is run
  std::optional<std::size_t> starts_setting_;
  /// External programs take data from files, which go with it, however a worker ends.
  std::optional<apps::ScratchFolder> scratch_;
  std::map<std::size_t, Worker> workers_;  ///< by variant
  /// How the release of a session or of the backend went wrong, by variant: not tried again.
  std::map<std::size_t, std::string> failed_releases_;
  std::map<std::size_t, std::string> failed_ends_;
  std::vector<std::string> notes_;  ///< that belong to no record
  std::int64_t trials_ = 0;
};

}  // namespace lloyd::experiment
