#include "experiment/ranks/rank_service.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/launched_ranks.hpp>

#include "experiment/ranks/rank_job.hpp"
#include "fit/ranks/rank_device.hpp"
#include "fit/ranks/rank_files.hpp"
#include "fit/ranks/rank_scope.hpp"
#include "ipc/descriptor.hpp"
#include "process/exit_status.hpp"
#include "supervision/guest_scope.hpp"
#include "supervision/interrupt.hpp"
#include "supervision/supervision.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {
namespace {

namespace fs = std::filesystem;
using apps::RankScope;

// Seconds after which a rank that does not respond ends the trial; the default of `lloyd fit`.
constexpr double kCommunicationTimeout = 60;

// The first rank that fails writes why.
void write_failure(const fs::path& file, std::string_view why) {
  const apps::Descriptor created(
      ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (!created) return;
  const ssize_t written = ::write(created.get(), why.data(), why.size());
  static_cast<void>(written);  // the text may be cut
}

std::unique_ptr<RowSource> open_source(const RankJob& job) {
  if (job.blobs) return blob_rows(*job.blobs);
  return open_rows(job.file, {{}, job.array_name});
}

Matrix read_part(const RankJob& job, const Ranks& ranks) {
  const std::unique_ptr<RowSource> source = open_source(job);
  if (source->samples() != job.samples || source->features() != job.features ||
      source->dtype() != job.dtype) {
    throw InputError(
        fmt::format("{} has {} of {} on this rank, but {} of {} {} in 'lloyd run'; all ranks "
                    "must see the same file",
                    source->name(), format_count(source->samples(), "sample"),
                    format_count(source->features(),
                                 std::string(apps::to_string(source->dtype())) + " feature"),
                    job.samples, job.features, apps::to_string(job.dtype)));
  }
  return apps::read_rows(*source, apps::rows_of_rank(job.samples, ranks.rank(), ranks.size()),
                         ranks);
}

// The trial on this rank.
class RankTrial {
 public:
  RankTrial(const RankJob& job, const RankFiles& files, RankScope& scope)
      : job_(job), files_(files), scope_(scope), ranks_(scope.ranks()) {}

  void run() {
    check_size();
    Matrix rows;
    scope_.enter("while reading the data");
    ranks_.together([&] {
      backend_ = apps::load_supervised(job_.plugin);
      check_same(job_.identity, identity_of(*backend_));
      parameters_ = backend_->default_parameters();
      for (const auto& [name, text] : job_.parameters) parameters_->set(name, text);
      starts_ =
          read_values(files_.starts, job_.options.restarts * job_.options.clusters * job_.features);
      rows = read_part(job_, ranks_);
    });
    apps::use_own_device(backend_->devices(), apps::has_chosen_device(*parameters_), *parameters_,
                         ranks_);
    const Dataset dataset = Dataset::part("data", std::move(rows), scope_.communicator());
    apps::GuestScope fitting;
    scope_.enter("during the fit");
    RankResult result;
    result.warm_up_inertia = warm_up(dataset);
    BackendSession session(backend_, dataset, *parameters_);
    const RankFitTimes before = scope_.fit_times();
    const Fit fit = fit_restarts(session);
    const RankFitTimes after = scope_.fit_times();
    scope_.enter("while writing the results");
    write_outputs(fit, files_.labels, files_.centroids);
    fitting.end();
    result.fit = slowest(measurements_of(fit, session.open_ms()));
    result.times = apps::gather_times(
        {after.ms - before.ms, after.communication_ms - before.communication_ms}, ranks_);
    if (!scope_.is_first()) return;
    result.process = this_process();
    write_result(files_.result, result);
  }

 private:
  void check_size() const {
    if (ranks_.size() == job_.ranks) return;
    throw InputError(fmt::format(
        "{} of {} processes joined; the launcher must start as many as {{ranks}} says, and belong "
        "to the MPI library of the communicator plugin",
        ranks_.size(), job_.ranks));
  }

  std::vector<double> start(std::int64_t restart) const {
    const auto values = job_.options.clusters * job_.features;
    const auto first = starts_.begin() + restart * values;
    return {first, first + values};
  }

  Fit fit_from(BackendSession& session, std::int64_t restart, const FitOptions& options) const {
    apps::InterruptObserver observer;
    Fit fit = session.fit_from(start(restart), options, &observer);
    if (fit.cancelled) throw Cancelled();
    return fit;
  }

  // The untimed fit of one iteration; returns its inertia.
  double warm_up(const Dataset& dataset) const {
    BackendSession session(backend_, dataset, *parameters_);
    FitOptions options = job_.options;
    options.fixed_iterations = true;
    options.max_iterations = 1;
    const Fit one = fit_from(session, 0, options);
    write_outputs(one, files_.warm_up_labels, files_.warm_up_centroids);
    return one.result.inertia;
  }

  Fit fit_restarts(BackendSession& session) const {
    Fit best;
    double fit_ms = 0;
    for (std::int64_t restart = 0; restart < job_.options.restarts; ++restart) {
      Fit next = fit_from(session, restart, job_.options);
      next.restart = restart;
      fit_ms += next.fit_ms;
      if (restart == 0 || next.result.inertia < best.result.inertia) best = std::move(next);
    }
    best.fit_ms = fit_ms;
    return best;
  }

  // Replaces each time by the longest of all ranks.
  Measurements slowest(Measurements fit) const {
    double* const times[] = {&fit.open_ms,
                             &fit.loop_ms,
                             &fit.closing_ms,
                             &fit.fit_ms,
                             &fit.phases.transfer_ms,
                             &fit.phases.assignment_ms,
                             &fit.phases.update_ms,
                             &fit.phases.convergence_ms};
    std::vector<double> values;
    for (const double* time : times) values.push_back(*time);
    ranks_.max(std::span(values));
    for (std::size_t i = 0; i < values.size(); ++i) *times[i] = values[i];
    return fit;
  }

  void write_outputs(const Fit& fit, const fs::path& labels, const fs::path& centroids) const {
    apps::write_rank_labels(labels, fit.labels, ranks_);
    ranks_.together([&] {
      if (scope_.is_first()) write_values(centroids, fit.centroids);
    });
  }

  const RankJob& job_;
  const RankFiles& files_;
  RankScope& scope_;
  const Ranks& ranks_;
  std::shared_ptr<const LoadedBackend> backend_;
  std::optional<ParameterSet> parameters_;
  std::vector<double> starts_;
};

}  // namespace

int serve_rank(const fs::path& folder, std::chrono::seconds plugin_limit) {
  const RankFiles files(folder);
  const RankJob job = read_job(files.job);
  apps::supervise(plugin_limit);
  apps::install_interrupt_handler();
  try {
    RankScope scope(find_launched_job(job.plugin_folders), kCommunicationTimeout);
    return scope.run([&] {
      with_core_errors([&] { RankTrial(job, files, scope).run(); });
      return static_cast<int>(apps::kDone);
    });
  } catch (const Cancelled&) {
    throw;  // the launcher ends all ranks; that is not the reason
  } catch (const std::exception& error) {
    write_failure(files.failure, error.what());
    throw;
  }
}

}  // namespace lloyd::experiment
