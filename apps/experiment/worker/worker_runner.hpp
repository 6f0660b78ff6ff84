// WorkerRunner: runs trials in separate processes.
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
#include "supervision/supervision_board.hpp"
#include "workers/worker_command.hpp"
#include "workers/worker_process.hpp"

namespace lloyd::experiment {

/// Runs one worker for each backend and parameter set, or for each trial, according to the plan's
/// isolation. A worker that crashes, hangs or exceeds a limit fails its current trial or trace
/// only; the next one gets a new worker. Every process makes the untimed fit of one iteration
/// first.
class WorkerRunner final : public SharedStartRunner {
 public:
  /// `command` starts a worker; if empty, this program does. `plugin_limit` is the time limit for a
  /// worker to load its plugin.
  WorkerRunner(const Plan& plan, DatasetCache& datasets, Observer& observer, std::string run,
               Machine machine, std::vector<std::string> command = {},
               std::chrono::seconds plugin_limit = std::chrono::seconds(isolated::kPluginTimeout));
  ~WorkerRunner() override;

  void finish(const std::function<void(const std::string&)>& note) override;

  /// Maximum number of workers; beyond it, the least recently used one is ended. The limit is lower
  /// if this process may open few descriptors.
  static constexpr std::size_t kMaxWorkers = 32;

 private:
  using Clock = apps::WorkerProcess::Clock;
  struct Worker {
    Worker(const Variant& its_variant, const std::vector<std::string>& command,
           const std::filesystem::path& scratch)
        : variant(its_variant), process(command, apps::kWorkerSocket, scratch) {}
    const Variant& variant;
    Clock::time_point begun = Clock::now();
    apps::WorkerProcess process;
    apps::SharedBoard board;  ///< the process marks its calls of the plugin there
    double start_ms = 0;
    bool preparing = false;  ///< the answers to `start` and `prepare` have not been read
    bool has_dataset = false;
    std::set<std::size_t> warm;  ///< settings whose untimed fit this worker has made
    std::int64_t last_trial = 0;
  };
  /// Thrown if the worker gives no answer; carries the status of the trial.
  struct Lost : std::runtime_error {
    Lost(TrialStatus how, const std::string& reason) : std::runtime_error(reason), status(how) {}
    TrialStatus status;
  };
  /// Thrown if the worker was lost while it released the session of a trial's untimed fit.
  struct LostInRelease : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  using Limits = apps::WorkerProcess::Limits;

  void prepare(std::size_t setting) override;
  void await_prepared() override;
  const Dataset& dataset(const DatasetSetting& setting) override;
  TrialOutcome attempt(const Task& task, Record& record) override;
  Trace watch(const TraceTask& task) override;
  std::optional<SeededRows> seed_with(const std::shared_ptr<const LoadedBackend>& backend,
                                      const FitOptions& options) override;

  Limits limits() const;
  Limits release_limits() const;
  Worker& worker_of(std::size_t variant, const Limits& limits);
  Worker& add_worker(std::size_t variant);
  void send_start(Worker& worker) const;
  void await_start(Worker& worker, const Limits& limits);
  void make_room();
  void end_idle(const Worker* busy);
  TrialOutcome attempt_once(const Task& task, Record& record);
  std::string conclude(std::size_t variant);
  std::string await_release(Worker& worker, std::string_view what, const Limits& limits);
  std::string await_exit(Worker& worker);
  void note_exit(std::size_t variant, Worker& worker);
  void settle(Worker& worker);
  std::string end(std::size_t variant);
  void let_go(std::size_t variant);
  int starts_descriptor(std::size_t setting, const Starts& starts);
  Answer ask(Worker& worker, const std::string& message, const std::vector<int>& descriptors,
             const Limits& limits);
  Answer await(Worker& worker, const Limits& limits);
  Answer ask_for(Worker& worker, const Limits& limits);
  Answer next_answer(Worker& worker, const Limits& limits);
  Trace take_trace(const Worker& worker, const Answer& answer, std::int64_t clusters) const;
  std::string describe_end(const Worker& worker, apps::WorkerProcess::Event event) const;

  DatasetCache& datasets_;
  std::vector<std::string> command_;
  std::chrono::seconds plugin_limit_;
  std::chrono::milliseconds release_limit_;
  std::vector<int> processors_;  ///< candidates on which timed fits begin
  std::string dataset_key_;
  SharedDataset shared_;
  apps::Descriptor starts_;  ///< initial centroids of the current setting
  std::optional<std::size_t> starts_setting_;
  /// Folder of the data files of external programs; removed with this object, however a worker
  /// ends.
  std::optional<apps::ScratchFolder> scratch_;
  std::map<std::size_t, Worker> workers_;  ///< by variant
  /// Failures to release a session or a backend, by variant. Such a release is not tried again.
  std::map<std::size_t, std::string> failed_releases_;
  std::map<std::size_t, std::string> failed_ends_;
  std::set<std::size_t> failed_exits_;  ///< variants whose processes failed to exit, as noted
  std::int64_t trials_ = 0;
};

}  // namespace lloyd::experiment
