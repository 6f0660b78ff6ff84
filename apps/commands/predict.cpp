// lloyd predict: labels new samples by the centroids of a model.
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/data/files.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>

#include "commands/command_end.hpp"
#include "commands/commands.hpp"
#include "fit/distances.hpp"
#include "fit/fit_warnings.hpp"
#include "fit/measurements.hpp"
#include "fit/model.hpp"
#include "fit/ranks/launched_command.hpp"
#include "fit/ranks/rank_data.hpp"
#include "fit/ranks/rank_device.hpp"
#include "fit/ranks/rank_files.hpp"
#include "guards/data_guards.hpp"
#include "guards/inspected_rows.hpp"
#include "json/parameters_json.hpp"
#include "options/backend_options.hpp"
#include "options/bounded_data.hpp"
#include "options/data_options.hpp"
#include "output/delivery.hpp"
#include "output/output.hpp"
#include "progress/stage_line.hpp"
#include "supervision/guest_scope.hpp"
#include "supervision/interrupt.hpp"
#include "supervision/supervision.hpp"
#include "text/names.hpp"

namespace lloyd::apps {
namespace {

struct PredictOptions {
  std::string model;
  DataOptions data;
  BackendOptions backend;
  MemoryOption memory;
  std::string labels, distances;
  std::int64_t comm_timeout = 60;  // seconds; 0: no limit
  bool json = false;
};

void check_features(const std::string& file, const Model& model, const BoundedFile& data) {
  if (data.features() != model.features) {
    const std::string centroids =
        find_format(file)
            ? fmt::format("; {} is a data file, whose {} rows were taken as centroids", file,
                          model.clusters)
            : std::string();
    throw InputError(fmt::format("{} has {}, but the model {} has {}{}{}", data.name(),
                                 format_count(data.features(), "feature"), file, model.features,
                                 advise_columns(data, model.features, model.feature_names),
                                 centroids));
  }
  check_feature_names(data, model.feature_names, "the model " + file);
}

// A model in place of the data: data files have other extensions.
void refuse_swapped_arguments(const PredictOptions& options) {
  if (lower_case_extension(options.data.file) != ".json") return;
  throw InputError(find_format(options.model)
                       ? fmt::format("MODEL comes before DATA: 'lloyd predict {} {}'",
                                     options.data.file, options.model)
                       : fmt::format("DATA is {}, a .json file; the samples must be in a {} file",
                                     options.data.file, enumerated(readable_extensions(), "or")));
}

// Makes the paths of the outputs absolute. Throws InputError.
void complete(PredictOptions& options) {
  refuse_swapped_arguments(options);
  if (options.labels == "-") {
    throw InputError(
        "--labels is '-', but it takes a file; without --labels and --distances, labels are "
        "printed to standard output");
  }
  for (std::string* const output : {&options.labels, &options.distances}) {
    check_extension(*output, {".csv", ".npy"});
    *output = absolute_path(*output).string();
  }
}

// Throws InputError unless the outputs can be written.
void try_outputs_of(const PredictOptions& options) {
  std::vector<std::filesystem::path> inputs = options.data.sources();
  inputs.emplace_back(options.model);
  refuse_overwriting({options.labels, options.distances}, inputs);
  try_outputs({options.labels, options.distances});
}

Model open_model(PredictOptions& options) {
  Model model = read_model(options.model, options.memory.limit);
  if (const std::string text = scaling_warning(options.model, model); !text.empty()) {
    note("lloyd: warning: {}\n", text);
  }
  options.data.expected_names = model.feature_names;
  return model;
}

// Labelling takes no more memory than a fit from given centroids.
FitOptions planned_fit(const Model& model) {
  FitOptions planned;
  planned.clusters = model.clusters;
  planned.seeding.method = SeedingMethod::file;
  return planned;
}

// Labels of the samples of this process, and results for all samples.
struct Labelling {
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  LabelResult result;
  ResultCheck check;
};

Labelling label(BackendSession& session, const Model& model) {
  Labelling labelling;
  InterruptObserver observer;
  StageLine line;
  line.show(fmt::format("labelling {}", format_count(session.dataset().total_samples(), "sample")));
  labelling.result = session.label(model.centroids, model.clusters, labelling.labels,
                                   labelling.counts, nullptr, &observer);
  line.clear();
  labelling.check = session.check(
      model.centroids, labelling.labels, labelling.result.inertia,
      [&](std::int64_t done, std::int64_t total) { line.update("checking", done, total); });
  return labelling;
}

void print_summary(const PredictOptions& options, const Model& model, const ChosenBackend& chosen,
                   const BackendSession& session, const Labelling& labelling) {
  const Dataset& dataset = session.dataset();
  if (!options.json) {
    print_text("labelled {} of {} by {} of {}: inertia {:.6g}\n",
               format_count(dataset.total_samples(), "sample"), printable(data_name(dataset)),
               format_count(model.clusters, "centroid"), options.model, labelling.result.inertia);
    return;
  }
  print_json(
      {{"dataset", {{"name", data_name(dataset)}, {"samples", dataset.total_samples()}}},
       {"backend",
        {{"name", chosen.backend->name()}, {"parameters", parameters_json(chosen.parameters)}}},
       {"clusters", model.clusters},
       {"inertia", labelling.result.inertia},
       {"counts", labelling.counts},
       {"open_ms", session.open_ms()},
       {"label_ms", labelling.result.label_ms},
       {"check", experiment::to_json(labelling.check)}});
}

// Throws InputError for options and files that work only with one process.
void refuse_single_process_options(const PredictOptions& options) {
  refuse_single_process_data(options.data);
  refuse_on_ranks(!options.distances.empty(), "--distances", "write distances with one process");
  refuse_on_ranks(options.labels.empty() && !options.json, "labels on standard output",
                  "write them to a file (--labels FILE.npy)");
}

// Each rank labels its rows; rank 0 prints the summary, and all write the labels.
ExitStatus label_on_ranks(const Context& context, PredictOptions options, RankScope& scope,
                          Delivery& delivery) {
  const Ranks& ranks = scope.ranks();
  Model model;
  std::optional<ChosenBackend> chosen;
  std::shared_ptr<const RowSource> unscaled;
  std::shared_ptr<const RowSource> source;
  scope.enter("while reading the data");
  ranks.together([&] {
    complete(options);
    refuse_single_process_options(options);
    if (scope.is_first()) try_outputs_of(options);
    model = open_model(options);
    BoundedFile file(options.data, options.memory);
    check_features(options.model, model, file);
    unscaled = file.take_rows();
    source = unscaled;
    if (model.standardization) source = standardize(unscaled, *model.standardization);
    chosen = options.backend.choose(context);
    if (scope.is_first() && !options.labels.empty()) {
      require_labels_space(options.labels, source->samples());
    }
  });
  use_own_device(*chosen, ranks);
  require_same_labels(options.labels, ranks);
  const std::vector<RoundingLoss> losses =
      rounding_losses_on_ranks(unscaled, options.memory, scope.communicator());
  if (scope.is_first()) warn_of_rounding(losses, {}, options.data);
  const RankData data = hold_rank_rows(source, *chosen, planned_fit(model), options.memory, scope);
  ranks.together([&] {
    // Standardized values are not those of the file.
    if (scope.is_first() && !model.standardization) warn_of_sentinels(data.dataset, options.data);
  });
  scope.enter("while labelling");
  GuestScope labelling;
  BackendSession session(chosen->backend, data.dataset, chosen->parameters, data.block_rows);
  const Labelling found = label(session, model);
  labelling.end();
  scope.enter("while writing the results");
  if (scope.is_first()) {
    delivery.print([&] { print_summary(options, model, *chosen, session, found); });
  }
  if (!options.labels.empty()) {
    deliver_rank_labels(options.labels, found.labels, ranks, delivery);
  }
  if (scope.is_first()) note_memory_beyond(options.memory, chosen->backend->name());
  return kDone;
}

int predict(const Context& context, PredictOptions options) {
  if (const auto job = find_job(context)) {
    return run_on_ranks(context, *job, options.comm_timeout,
                        [&](RankScope& scope, Delivery& delivery) {
                          return label_on_ranks(context, options, scope, delivery);
                        });
  }
  complete(options);
  options.data.take_standard_input();
  try_outputs_of(options);
  supervise(context.plugin_limit());  // after refuse_overwriting(), which may redirect messages
  const Model model = open_model(options);
  BoundedFile file(options.data, options.memory);
  check_features(options.model, model, file);
  warn_of_rounding(file.rounding_losses(), file.feature_names(), options.data);
  const auto inspect = [&](const Dataset& samples) {
    warn_of_header(samples, options.data);
    warn_of_sentinels(samples, options.data);
  };
  if (model.standardization) {
    // The extra row shows that the file has more rows than are inspected.
    file.inspect(kMaxInspectedRows + 1, inspect);
    file.standardize(*model.standardization);
  }
  const ChosenBackend chosen = options.backend.choose(context);
  if (chosen.given.contains("threads")) {
    note_warnings(thread_warnings(chosen.parameters.text("threads"), usable_processors()));
  }
  install_interrupt_handler();
  GuestScope planning;
  const std::int64_t distances_memory =
      options.distances.empty() ? 0 : distances_bytes(file.samples(), file.features());
  const BoundedData data = file.hold(chosen, planned_fit(model), distances_memory);
  planning.end();
  const Dataset& dataset = data.dataset;
  if (!model.standardization) inspect(dataset);
  const std::int64_t rows = dataset.samples() + dataset.dropped_rows;  // of the file
  if (!options.labels.empty()) require_labels_space(options.labels, rows);
  if (!options.distances.empty()) require_matrix_space(options.distances, rows);
  GuestScope labelling;
  BackendSession session(chosen.backend, dataset, chosen.parameters, data.block_rows);
  return run_to_end([&] {
    Labelling found = label(session, model);
    labelling.end();
    std::vector<std::int32_t>& labels = found.labels;
    std::vector<double> distances;
    if (!options.distances.empty()) {
      distances =
          in_file_rows(distances_to_centroids(dataset, model.centroids, labels),
                       dataset.dropped_row_numbers, std::numeric_limits<double>::quiet_NaN());
    }
    labels = in_file_rows(std::move(labels), dataset.dropped_row_numbers, kNoLabel);

    Delivery delivery;
    delivery.print([&] {
      if (!options.json && options.labels.empty() && options.distances.empty()) {
        for (const std::int32_t label : labels) write_result(fmt::format("{}\n", label));
      } else {
        print_summary(options, model, chosen, session, found);
      }
    });
    const auto write = [&](const std::filesystem::path& path) { write_labels(path, labels); };
    if (!options.labels.empty() && delivery.write(options.labels, write)) {
      note("wrote {}\n", options.labels);
    }
    const auto write_distances = [&](const std::filesystem::path& path) {
      write_vector(path, distances);
    };
    if (!options.distances.empty() && delivery.write(options.distances, write_distances)) {
      note("wrote {}\n", options.distances);
    }
    const bool gives_labels =
        !options.labels.empty() || (!options.json && options.distances.empty());
    if (gives_labels) note_left_out_rows(dataset, "labels", "-1");
    if (!options.distances.empty()) note_left_out_rows(dataset, "distances", "nan");
    delivery.finish();
    note_memory_beyond(options.memory, chosen.backend->name());
    return kDone;
  });
}

}  // namespace

void add_predict_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("predict", "Label samples by the centroids of a model");
  auto options = std::make_shared<PredictOptions>();
  command
      ->add_option("MODEL", options->model,
                   "A model written by 'lloyd fit', or a data file of centroids, which lacks the "
                   "scaling of --standardize")
      ->required();
  options->data.add_to(*command);
  options->backend.add_to(*command);
  options->memory.add_to(*command);
  command->add_option("--labels", options->labels,
                      "Write the labels to this .csv or .npy file (default, without --distances: "
                      "standard output)");
  command->add_option(
      "--distances", options->distances,
      "Write the distance of each sample to its centroid to this .csv or .npy file");
  add_comm_timeout(*command, options->comm_timeout);
  command->add_flag("--json", options->json, "Print a summary as JSON");
  command->callback([&context, options] {
    context.action = [&context, options] { return predict(context, *options); };
  });
}

}  // namespace lloyd::apps
