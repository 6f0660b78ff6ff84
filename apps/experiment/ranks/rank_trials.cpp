#include "experiment/ranks/rank_trials.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/returned_fit.hpp>
#include <lloyd/internal/status_text.hpp>

#include "experiment/trial/stopwatch.hpp"
#include "external/launched_program.hpp"
#include "workers/worker_command.hpp"

namespace lloyd::experiment {
namespace {

namespace fs = std::filesystem;
using external::LaunchedProgram;

// Removes a folder at the end of a trial.
class TrialFolder {
 public:
  explicit TrialFolder(fs::path path) : path_(std::move(path)) {
    std::error_code error;
    fs::create_directory(path_, error);
    if (error) {
      throw Error(fmt::format("cannot make the folder {}: {}", path_.string(), error.message()));
    }
  }
  ~TrialFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// True if ranks can generate or read their rows of this data set alone.
bool is_read_by_range(const DatasetSetting& setting) {
  if (setting.standardize) return false;
  if (setting.blobs) return true;
  const auto format = find_format(setting.file);
  return setting.takes_all_rows() &&
         (format == FileFormat::npy || format == FileFormat::fvecs || format == FileFormat::hdf5);
}

// Launchers frame their messages with lines of dashes.
std::string strip_dashed_lines(const std::string& words) {
  constexpr std::size_t kMinRule = 8;
  std::string text;
  for (std::size_t i = 0; i < words.size();) {
    const std::size_t end = std::min(words.find_first_not_of('-', i), words.size());
    if (end - i < kMinRule) text.append(words, i, std::max<std::size_t>(end - i, 1));
    i = std::max(end, i + 1);
  }
  text.erase(0, text.find_first_not_of(' '));
  return apps::on_one_line(text);
}

// Shortens the text of Open MPI when root starts it, which ends with the variables that permit it.
std::string shorten_root_refusal(const std::string& words) {
  constexpr std::string_view kCause = "attempt to run as root";
  const std::size_t at = words.find(kCause);
  if (at == std::string::npos) return words;
  return words.substr(0, at + kCause.size()) +
         "; the variables OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 permit it";
}

// A message of Lloyd, which a rank or its supervisor printed, says more than those of a launcher.
std::string end_text(const Launch& launch, const LaunchedProgram& program) {
  const apps::ProcessEnd& end = program.end();
  const std::string message = program.last_line("lloyd: ");
  return apps::with_last_words(
      fmt::format("the launcher '{}' ended {}", launch.launcher,
                  end.clean() ? "without a result of the ranks" : "with " + end.text()),
      message.empty() ? shorten_root_refusal(strip_dashed_lines(program.last_words())) : message);
}

// The result of a fit, from files of the ranks.
Fit read_fit(const fs::path& labels, const fs::path& centroids, const TrialWork& work) {
  Fit fit;
  fit.clusters = work.options.clusters;
  fit.features = work.dataset.features();
  fit.labels = read_labels(labels, work.dataset.samples());
  fit.centroids = read_values(centroids, fit.clusters * fit.features);
  return fit;
}

ResultCheck check(const Fit& fit, double inertia, const TrialWork& work, const char* stage) {
  return check_returned_fit(*work.backend, work.dataset, fit.centroids, fit.labels, inertia,
                            [&](std::int64_t done, std::int64_t total) {
                              if (work.on_stage) work.on_stage(stage, done, total);
                            });
}

void read_outcome(const RankFiles& files, const TrialWork& work, const Observer& observer,
                  TrialOutcome& outcome, Record& record) {
  RankResult result = read_result(files.result);
  const Stopwatch watch(outcome.check_ms);
  if (work.probe) {
    const Fit one = read_fit(files.warm_up_labels, files.warm_up_centroids, work);
    const ResultCheck checked = check(one, result.warm_up_inertia, work, "checking the warm-up");
    outcome.after_one = check_after_one(one, checked.inertia, work, observer);
  }
  if (work.check_result) {
    const Fit fit = read_fit(files.labels, files.centroids, work);
    result.fit.check = check(fit, result.fit.inertia, work, "checking the result");
    rate_clusters(fit, work, observer, result.fit);
  }
  outcome.fit = std::move(result.fit);
  outcome.process = std::move(result.process);
  record.rank_times = std::move(result.times);
}

}  // namespace

RankTrials::RankTrials(const Plan& plan) : plan_(plan), scratch_(fs::absolute(plan.output)) {}

// Writes the data set to the folder unless ranks can make or read their rows themselves.
void RankTrials::describe_data(const DatasetSetting& setting, const Dataset& dataset,
                               RankJob& job) {
  job.samples = dataset.samples();
  job.features = dataset.features();
  job.dtype = dataset.dtype();
  if (is_read_by_range(setting)) {
    job.blobs = setting.blobs;
    if (!job.blobs) job.file = fs::absolute(setting.file);
    job.array_name = setting.array_name;
    return;
  }
  job.file = scratch_ / "dataset.npy";
  const std::string key = setting.key();
  if (key == exported_key_) return;
  exported_key_.clear();
  write_dataset(job.file, dataset);
  exported_key_ = key;
}

void RankTrials::write_inputs(const PlannedFit& fit, const TrialWork& work,
                              const RankFiles& files) {
  const Variant& variant = plan_.variants[fit.variant];
  RankJob job;
  job.ranks = variant.ranks;
  for (const fs::path& folder : plan_.plugin_folders) {
    job.plugin_folders.push_back(fs::absolute(folder));
  }
  job.plugin = fs::absolute(variant.backend->path()).string();
  job.parameters = variant.parameters.texts();
  job.identity = identity_of(*variant.backend);
  job.options = work.options;
  describe_data(plan_.settings[fit.setting].setting.dataset, work.dataset, job);
  std::vector<double> starts;
  for (const std::vector<double>& start : work.starts) {
    starts.insert(starts.end(), start.begin(), start.end());
  }
  write_values(files.starts, starts);
  write_job(files.job, job);
}

// Runs the launcher to its end. Throws Cancelled, and Error if the trial fails.
void RankTrials::launch(const fs::path& folder, std::int64_t ranks, const Observer& observer,
                        Record& record) const {
  const fs::path launcher = find_launcher(plan_.launch);
  std::vector<std::string> words = launcher_words(plan_.launch, ranks);
  if (launcher.empty()) {
    throw Error(fmt::format("the launcher '{}' is not an executable program, or not in PATH",
                            words.front()));
  }
  words.erase(words.begin());
  words.insert(words.end(), {apps::program_file().string(), "serve-rank", folder.string()});
  std::optional<LaunchedProgram::Clock::time_point> deadline;
  if (plan_.isolation.timeout) {
    deadline = LaunchedProgram::Clock::now() +
               std::chrono::duration_cast<LaunchedProgram::Clock::duration>(
                   std::chrono::duration<double>(*plan_.isolation.timeout));
  }
  LaunchedProgram program(launcher, words);
  switch (program.wait(deadline, [&] { return observer.stop_requested(); })) {
    case LaunchedProgram::Event::stopped:
      throw Cancelled();
    case LaunchedProgram::Event::timed_out:
      record.status = TrialStatus::timed_out;
      throw Error(fmt::format("it took longer than {:g} s", *plan_.isolation.timeout));
    case LaunchedProgram::Event::ended:
      break;
  }
  const RankFiles files(folder);
  std::error_code error;
  if (fs::exists(files.failure, error)) throw Error(printable(read_text_file(files.failure)));
  if (!program.end().clean() || !fs::exists(files.result, error)) {
    throw Error(end_text(plan_.launch, program));
  }
}

TrialOutcome RankTrials::run(const PlannedFit& fit, const TrialWork& work, Observer& observer,
                             Record& record) {
  TrialOutcome outcome;
  try {
    const TrialFolder folder(scratch_ / "trial");
    const RankFiles files(folder.path());
    write_inputs(fit, work, files);
    launch(folder.path(), plan_.variants[fit.variant].ranks, observer, record);
    read_outcome(files, work, observer, outcome, record);
  } catch (const Cancelled&) {
    outcome.cancelled = true;
  } catch (const std::bad_alloc&) {
    outcome.failure = "out of host memory";
  } catch (const std::exception& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

}  // namespace lloyd::experiment
