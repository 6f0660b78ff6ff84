#include "fit/ranks/fit_on_ranks.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>

#include "fit/fit_report.hpp"
#include "fit/fit_warnings.hpp"
#include "fit/ranks/launched_command.hpp"
#include "fit/ranks/rank_data.hpp"
#include "fit/ranks/rank_device.hpp"
#include "fit/ranks/rank_files.hpp"
#include "guards/data_guards.hpp"
#include "output/delivery.hpp"
#include "output/output.hpp"
#include "process/exit_status.hpp"
#include "progress/fit_progress.hpp"
#include "supervision/guest_scope.hpp"

namespace lloyd::apps {
namespace {

// Throws InputError for options and formats that work only with one process.
void refuse_single_process_options(const FitCommandOptions& options) {
  refuse_single_process_data(options.data);
  refuse_on_ranks(options.standardize, "--standardize", "standardize the data first");
  refuse_on_ranks(options.tries_range(), "a range of k",
                  "choose k with one process, on a subset of the samples");
  refuse_on_ranks(!options.plot.empty(), "--plot", "draw a subset of the samples with one process");
}

// Names each finished iteration as the phase of the ranks.
class RankProgress final : public FitProgress {
 public:
  RankProgress(const FitOptions& options, std::int64_t samples, RankScope& scope)
      : FitProgress(options, samples), scope_(scope) {}

  bool on_iteration(const IterationRecord& record) noexcept override {
    const bool goes_on = FitProgress::on_iteration(record);
    std::array<char, 96> text{};
    fmt::format_to_n(text.data(), text.size() - 1, "after iteration {} of restart {}",
                     record.iteration, restart());
    scope_.enter(text.data());
    return goes_on;
  }

 private:
  RankScope& scope_;
};

// What this rank has opened.
struct RankInputs {
  ChosenBackend chosen;
  RankData data;
};

RankInputs open_inputs(const Context& context, FitCommandOptions& options, RankScope& scope) {
  const Ranks& ranks = scope.ranks();
  scope.enter("while reading the data");
  std::shared_ptr<const RowSource> source;
  std::optional<ChosenBackend> chosen;
  ranks.together([&] {
    options.complete();
    options.complete_outputs();
    refuse_single_process_options(options);
    if (scope.is_first()) options.try_outputs();
    source = options.data.open_rows();
    options.check_centroids(source->name(), source->features());
    options.check_clusters(source->name(), source->samples());
    chosen = options.backend.choose(context);
    if (scope.is_first() && !options.labels.empty()) {
      require_labels_space(options.labels, source->samples());
    }
  });
  use_own_device(*chosen, ranks);
  require_same_labels(options.labels, ranks);
  const std::int64_t checkpoints =
      scope.is_first() ? options.checkpoint.bytes(options.fit.clusters, source->features()) : 0;
  RankData data = hold_rank_rows(source, *chosen, options.fit, options.memory, scope, checkpoints);
  return {std::move(*chosen), std::move(data)};
}

// Rank 0 writes the model and centroids, all ranks the labels.
void write_files(const FitCommandOptions& options, const Fit& fit, const Ranks& ranks,
                 Delivery& delivery) {
  const auto write = [&](const std::string& file, const auto& body) {
    if (!file.empty() && ranks.rank() == 0 && delivery.write(file, body)) {
      note("wrote {}\n", file);
    }
  };
  write(options.model, [&](const std::filesystem::path& file) { fit.save(file); });
  write(options.centroids, [&](const std::filesystem::path& file) {
    write_matrix(file, fit.centroids, fit.features);
  });
  if (options.labels.empty()) return;
  if (!fit.cancelled) {
    return deliver_rank_labels(options.labels, fit.labels, ranks, delivery);
  }
  std::error_code error;
  note("lloyd: {} {}: an interrupted fit has no labels\n", options.labels,
       std::filesystem::exists(options.labels, error) ? "is from an earlier fit"
                                                      : "was not written");
}

// One sentence if clusters are empty.
std::vector<std::string> warnings_of_empty_clusters(const Fit& fit) {
  const auto empty = std::count(fit.counts.begin(), fit.counts.end(), 0);
  if (empty == 0) return {};
  return {fmt::format("{} of the {} clusters {} empty", empty, fit.clusters,
                      empty == 1 ? "is" : "are")};
}

ExitStatus fit_rows(FitCommandOptions& options, const RankInputs& inputs, RankScope& scope,
                    Delivery& delivery) {
  const Ranks& ranks = scope.ranks();
  const auto& [chosen, data] = inputs;
  const Dataset& dataset = data.dataset;
  std::vector<std::string> warnings;
  ranks.together([&] {
    if (!scope.is_first()) return;
    warnings = restart_warnings(options.fit, "--restarts", "--seeding " + options.seeding);
    for (std::string& text : data_warnings(dataset, options.data, false)) {
      warnings.push_back(std::move(text));
    }
    note_warnings(warnings);
  });
  options.fit.restarts = restarts_to_run(options.fit);
  GuestScope fitting;
  BackendSession session(chosen.backend, dataset, chosen.parameters, data.block_rows,
                         data.window_rows);
  RankProgress progress(options.fit, dataset.total_samples(), scope);
  scope.enter("before the first iteration of this run");
  const Fit fit = lloyd::fit(
      session, options.fit, &progress,
      [&](std::string_view stage, std::int64_t done, std::int64_t total) {
        progress.on_stage(stage, done, total);
      },
      {}, options.checkpoint.options(progress, options.standardize));
  fitting.end();
  scope.enter("while writing the results");
  if (fit.cancelled && fit.result.iterations == 0) {
    note("lloyd: interrupted before the first iteration finished\n");
    if (scope.is_first()) options.checkpoint.finish(options.fit, fit);
    return kInterrupted;
  }
  const RankTimes times = gather_times(scope.fit_times(), ranks);
  if (scope.is_first()) {
    const std::vector<std::string> empty = warnings_of_empty_clusters(fit);
    note_warnings(empty);
    warnings.insert(warnings.end(), empty.begin(), empty.end());
    const FitReport report{dataset,           chosen,   options.fit,  fit,
                           session.open_ms(), warnings, ranks.size(), times};
    delivery.print([&] {
      if (options.json) {
        print_json(to_json(report));
      } else {
        print(report);
      }
    });
  }
  write_files(options, fit, ranks, delivery);
  if (scope.is_first()) {
    options.note_stale_files();
    // Keeps the checkpoint if a result could not be written, so that --resume can write it.
    if (delivery.complete()) options.checkpoint.finish(options.fit, fit);
    note_memory_beyond(options.memory, chosen.backend->name());
  }
  return fit.cancelled ? kInterrupted : kDone;
}

}  // namespace

int fit_on_ranks(const Context& context, FitCommandOptions options, const LaunchedJob& job) {
  return run_on_ranks(
      context, job, options.comm_timeout, [&](RankScope& scope, Delivery& delivery) {
        return fit_rows(options, open_inputs(context, options, scope), scope, delivery);
      });
}

}  // namespace lloyd::apps
