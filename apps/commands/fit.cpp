// lloyd fit: clusters one file with one backend.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>

#include "commands/command_end.hpp"
#include "commands/commands.hpp"
#include "fit/choice/cluster_choice.hpp"
#include "fit/fit_command_options.hpp"
#include "fit/fit_report.hpp"
#include "fit/fit_warnings.hpp"
#include "fit/plot/cluster_plot.hpp"
#include "fit/plot/plotted_samples.hpp"
#include "fit/ranks/fit_on_ranks.hpp"
#include "fit/ranks/launched_command.hpp"
#include "guards/data_guards.hpp"
#include "options/backend_options.hpp"
#include "options/bounded_data.hpp"
#include "options/cluster_range.hpp"
#include "options/data_options.hpp"
#include "output/delivery.hpp"
#include "output/output.hpp"
#include "progress/fit_progress.hpp"
#include "seeding/borrowed_seeding.hpp"
#include "supervision/guest_scope.hpp"
#include "supervision/interrupt.hpp"
#include "supervision/supervision.hpp"
#include "text/names.hpp"
#include "text/whole_number.hpp"

namespace lloyd::apps {
namespace {

// Draws and writes the plot of a complete fit. Skipped if the user interrupts the drawing, unless
// the fit was interrupted before.
void write_plot(const FitCommandOptions& options, const FitReport& report, Delivery& delivery) {
  if (options.plot.empty()) return;
  std::string svg;
  try {
    svg = cluster_plot_svg(report.dataset, report.fit,
                           report.fit.cancelled ? StopFunction() : interrupted);
  } catch (const Cancelled&) {
    note("lloyd: interrupted before {} was drawn\n", options.plot);
    return;
  } catch (const std::bad_alloc&) {
    delivery.add_failure(fmt::format("{}: out of memory while it was drawn", options.plot));
    return;
  } catch (const std::exception& error) {
    delivery.add_failure(fmt::format("{} could not be drawn: {}", options.plot, error.what()));
    return;
  }
  const auto write = [&](const std::filesystem::path& file) {
    NewFile output(file);
    output.write(svg);
    output.commit();
  };
  if (delivery.write(options.plot, write)) note("wrote {}\n", options.plot);
}

// An interrupted fit leaves a model and centroids too, but neither labels nor a plot.
void write_files(const FitCommandOptions& options, const FitReport& report, Delivery& delivery) {
  const Fit& fit = report.fit;
  const Dataset& dataset = report.dataset;
  const auto write = [&](const std::string& file, const auto& body) {
    if (!file.empty() && delivery.write(file, body)) note("wrote {}\n", file);
  };
  write(options.model, [&](const std::filesystem::path& file) { fit.save(file); });
  write(options.centroids, [&](const std::filesystem::path& file) {
    write_matrix(file, fit.centroids_in_data_units(), fit.features, dataset.feature_names);
  });
  if (fit.standardization && !options.centroids.empty() && options.model.empty()) {
    note(
        "lloyd: {} lacks the scaling of --standardize, so 'lloyd predict' would give other labels; "
        "--model FILE.json saves it\n",
        options.centroids);
  }
  if (!report.complete()) {
    std::error_code error;
    for (const std::string& file : {options.labels, options.plot}) {
      if (file.empty()) continue;
      const bool exists = std::filesystem::exists(file, error);
      note("lloyd: {} {}: an interrupted fit has neither labels nor a plot\n", file,
           exists ? "is from an earlier fit" : "was not written");
    }
    return;
  }
  write(options.labels, [&](const std::filesystem::path& file) {
    write_labels(file, in_file_rows(fit.labels, dataset.dropped_row_numbers, kNoLabel));
  });
  if (!options.labels.empty()) note_left_out_rows(dataset, "labels", "-1");
  write_plot(options, report, delivery);
}

// Prints a FitReport or a ClusterChoiceReport.
template <class Report>
void print_report(const FitCommandOptions& options, const Report& report, Delivery& delivery) {
  delivery.print([&] {
    if (options.json) {
      print_json(to_json(report));
    } else {
      print(report);
    }
  });
}

// Prints warnings, and appends them to `all`.
void warn(const std::vector<std::string>& texts, std::vector<std::string>& all) {
  note_warnings(texts);
  all.insert(all.end(), texts.begin(), texts.end());
}

ExitStatus deliver(const FitCommandOptions& options, FitReport report) {
  warn(empty_cluster_warnings(report.dataset, report.fit), report.warnings);
  Delivery delivery;
  print_report(options, report, delivery);
  write_files(options, report, delivery);
  options.note_stale_files();
  delivery.finish();
  return report.fit.cancelled ? kInterrupted : kDone;
}

// On a terminal, a line shows the stages and iterations. If the backend has no seeding kernels, the
// fit may use those of another one.
Fit fit_with_progress(BackendSession& session, const FitOptions& options,
                      const CheckpointOption& checkpoint, bool standardize,
                      BorrowedSeeding& seeding) {
  FitProgress progress(options, session.dataset().samples());
  const auto on_stage = [&](std::string_view stage, std::int64_t done, std::int64_t total) {
    progress.on_stage(stage, done, total);
  };
  StartFunction start;
  if (session.session().query(kSeedingKernels) == nullptr) {
    start = seeding.starts(session.backend(), options, [&](std::int64_t done, std::int64_t total) {
      on_stage("seeding", done, total);
    });
  }
  return lloyd::fit(session, options, &progress, on_stage, start,
                    checkpoint.options(progress, standardize));
}

// Labels the samples by the centroids of the suggested fit, whose own labels were not kept.
void label_suggested(BackendSession& session, ClusterChoice& choice) {
  TriedFit& suggested = choice.fits[*choice.suggestion.index];
  InterruptObserver observer;
  try {
    session.label(suggested.fit.centroids, suggested.clusters, suggested.fit.labels,
                  suggested.fit.counts, nullptr, &observer);
  } catch (const BackendError& error) {
    if (error.code() != StatusCode::cancelled) throw;
    suggested.fit.labels = {};
    choice.cancelled = true;
  }
}

// Fits each k of the range and delivers the criteria, and the files of the suggested k.
ExitStatus fit_range(const FitCommandOptions& options, const BoundedData& data,
                     const ChosenBackend& chosen, BackendSession& session,
                     const std::optional<Standardization>& standardization,
                     const std::vector<std::string>& warnings, BorrowedSeeding& seeding,
                     GuestScope& fitting) {
  // The session holds two blocks as well; the memory plan leaves room for smaller ones.
  constexpr std::int64_t kBlockShare = 8;
  FitOptions fit_options = options.fit;
  const auto fit_clusters = [&](std::int64_t clusters) {
    fit_options.clusters = clusters;
    Fit fit =
        fit_with_progress(session, fit_options, options.checkpoint, options.standardize, seeding);
    fit.standardization = standardization;
    return fit;
  };
  ClusterChoice choice = choose_clusters(
      data.dataset, parse_cluster_range(options.clusters),
      {fit_clusters, std::max<std::int64_t>(data.block_rows / kBlockShare, 1), interrupted});
  if (choice.suggestion.index && options.needs_labels()) label_suggested(session, choice);
  fitting.end();
  if (choice.fits.empty()) {
    note("lloyd: interrupted before the first fit finished\n");
    return kInterrupted;
  }
  if (choice.cancelled) {
    note("lloyd: interrupted after k = {} of {}; the suggestion is only for the finished fits\n",
         choice.fits.back().clusters, options.clusters);
  }
  const ClusterChoiceReport report{data.dataset,      chosen,  options.fit, choice,
                                   session.open_ms(), warnings};
  Delivery delivery;
  print_report(options, report, delivery);
  if (choice.suggestion.index) {
    const TriedFit& suggested = choice.fits[*choice.suggestion.index];
    fit_options.clusters = suggested.clusters;
    write_files(options, {data.dataset, chosen, fit_options, suggested.fit, session.open_ms()},
                delivery);
  } else if (options.needs_labels() || !options.centroids.empty() || !options.model.empty()) {
    note("lloyd: no k is suggested, so labels, centroids, model and plot were not written\n");
  }
  if (!options.criteria.empty() &&
      delivery.write(options.criteria, [&](const auto& file) { write_criteria(file, report); })) {
    note("wrote {}\n", options.criteria);
  }
  options.note_stale_files();
  delivery.finish();
  return choice.cancelled ? kInterrupted : kDone;
}

int run_fit(const Context& context, FitCommandOptions options) {
  if (const auto job = find_job(context)) return fit_on_ranks(context, std::move(options), *job);
  const std::vector<std::string> centroid_names = options.complete();
  options.data.take_standard_input();
  options.complete_outputs();
  options.try_outputs();  // before supervise(): it may redirect the messages of both processes
  supervise(context.plugin_limit());
  BoundedFile file(options.data, options.memory);
  options.check_centroids(file.name(), file.features());
  check_feature_names(file, centroid_names, options.seeding);
  options.check_clusters(file.name(), file.samples());
  const ChosenBackend chosen = options.backend.choose(context);
  if (options.backend.name.empty() && !options.json) {
    note("using backend '{}'; --backend selects another\n", chosen.backend->name());
  }
  install_interrupt_handler();
  std::vector<std::string> warnings;
  warn(restart_warnings(options.fit, "--restarts", "--seeding " + options.seeding), warnings);
  if (chosen.given.contains("threads")) {
    warn(thread_warnings(chosen.parameters.text("threads"), usable_processors()), warnings);
  }
  options.fit.restarts = restarts_to_run(options.fit);
  const auto inspect = [&](const Dataset& dataset) {
    warn(data_warnings(dataset, options.data, options.standardize), warnings);
  };
  std::optional<Standardization> standardization;
  if (options.standardize) {
    standardization = file.standardize(inspect);
    std::vector<double>& centroids = options.fit.seeding.centroids;
    centroids = standardization->apply(std::move(centroids));
  }
  GuestScope planning;
  const std::int64_t plotting =
      options.plot.empty() ? 0 : plot_bytes(file.samples(), file.features(), options.fit.clusters);
  const std::int64_t checkpoints = options.checkpoint.bytes(options.fit.clusters, file.features());
  const BoundedData data = file.hold(chosen, options.fit, plotting + checkpoints);
  planning.end();
  const Dataset& dataset = data.dataset;
  if (!options.standardize) inspect(dataset);
  if (!options.labels.empty())
    require_labels_space(options.labels, dataset.samples() + dataset.dropped_rows);
  GuestScope fitting;
  check_fit(*chosen.backend, dataset, chosen.parameters, options.fit);

  BackendSession session(chosen.backend, dataset, chosen.parameters, data.block_rows,
                         data.window_rows);
  BorrowedSeeding seeding(context, dataset, data.spare_bytes);
  return run_to_end([&] {
    if (options.tries_range()) {
      const ExitStatus status =
          fit_range(options, data, chosen, session, standardization, warnings, seeding, fitting);
      note_memory_beyond(options.memory, chosen.backend->name());
      return status;
    }
    Fit fit =
        fit_with_progress(session, options.fit, options.checkpoint, options.standardize, seeding);
    fit.standardization = standardization;
    fitting.end();
    if (fit.cancelled && fit.result.iterations == 0) {
      note("lloyd: interrupted before the first iteration finished\n");
      options.checkpoint.finish(options.fit, fit);
      return kInterrupted;
    }
    const ExitStatus status =
        deliver(options, {dataset, chosen, options.fit, fit, session.open_ms(), warnings});
    options.checkpoint.finish(options.fit, fit);
    note_memory_beyond(options.memory, chosen.backend->name());
    return status;
  });
}

}  // namespace

void add_fit_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("fit", "Cluster the samples of a file");
  auto options = std::make_shared<FitCommandOptions>();
  options->data.add_to(*command);
  options->backend.add_to(*command);
  options->memory.add_to(*command);
  command->add_flag("--standardize", options->standardize,
                    "Give every feature mean 0 and standard deviation 1 before clustering");
  command
      ->add_option("-k,--clusters", options->clusters,
                   "Number of clusters, or a range to choose from: 2..20, with a step 2..20..3")
      ->check(cluster_range())
      ->capture_default_str();
  command
      ->add_option(
          "--seeding,--init", options->seeding,
          "Initial centroids: k-means++, k-means||, random, first, or a file with k rows or "
          "a model of k clusters (.json)")
      ->capture_default_str();
  command
      ->add_option("--oversampling", options->oversampling,
                   "For k-means||: expected samples per round, as a multiple of k (default 1)")
      ->check(number());
  command->add_option("--rounds", options->rounds, "For k-means||: number of rounds (default 5)")
      ->check(whole_number(1, kMaxRounds));
  command->add_option("--seed", options->fit.seeding.seed, "Seed of the random numbers for seeding")
      ->check(seed_number())
      ->capture_default_str();
  command
      ->add_option("--restarts", options->fit.restarts,
                   "Number of fits from different initial centroids; the best is kept")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  auto* most = command
                   ->add_option("--max-iterations", options->fit.max_iterations,
                                "Maximum number of iterations")
                   ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
                   ->capture_default_str();
  auto* tolerance = command
                        ->add_option("--tolerance", options->fit.tolerance,
                                     "Stop when the sum of squared centroid shifts is at most this "
                                     "times the mean variance of the features; 0: never")
                        ->check(number())
                        ->capture_default_str();
  command->add_option("--iterations", options->iterations, "Run exactly this many iterations")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->excludes(most)
      ->excludes(tolerance);
  command
      ->add_option("--empty-clusters", options->empty_clusters,
                   "What to do with an empty cluster: relocate, keep or error")
      ->type_name("TEXT:{relocate,keep,error}")
      ->capture_default_str();
  command->add_option("--labels", options->labels, "Write the labels to this .csv or .npy file");
  command->add_option("--centroids", options->centroids,
                      "Write the centroids to this .csv or .npy file");
  command->add_option("--model", options->model,
                      "Write a model for 'lloyd predict' to this .json file");
  command->add_option("--criteria", options->criteria,
                      "For a range of k: write the criteria of each k to this .svg or .csv file");
  command->add_option("--plot", options->plot,
                      "Write a picture of the clusters to this .svg file: samples and centroids on "
                      "the first two principal axes");
  auto* output = command->add_option("-o,--output", options->output,
                                     "Write labels, centroids and model.json into this folder, for "
                                     "a range of k those of the suggested one and criteria.svg");
  command
      ->add_option("--format", options->format,
                   "Format of labels and centroids in that folder: csv or npy")
      ->check(CLI::IsMember({"csv", "npy"}))
      ->needs(output)
      ->capture_default_str();
  options->checkpoint.add_to(*command);
  add_comm_timeout(*command, options->comm_timeout);
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([&context, options] {
    context.action = [&context, options] { return run_fit(context, *options); };
  });
}

}  // namespace lloyd::apps
