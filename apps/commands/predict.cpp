// lloyd predict: labels new samples by the centroids of a model.
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/status_text.hpp>

#include "commands/command_end.hpp"
#include "commands/commands.hpp"
#include "fit/distances.hpp"
#include "fit/measurements.hpp"
#include "fit/model.hpp"
#include "json/parameters_json.hpp"
#include "options/backend_options.hpp"
#include "options/bounded_data.hpp"
#include "options/data_guards.hpp"
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
  bool json = false;
};

void check_features(const std::string& file, const Model& model, const BoundedFile& data) {
  if (data.features() != model.features) {
    throw InputError(fmt::format("{} has {} features, but the model {} has {}{}", data.name(),
                                 data.features(), file, model.features,
                                 advise_columns(data, model.features, model.feature_names)));
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

int predict(const Context& context, PredictOptions options) {
  refuse_swapped_arguments(options);
  for (std::string* const output : {&options.labels, &options.distances}) {
    check_extension(*output, {".csv", ".npy"});
    *output = absolute_path(*output).string();
  }
  options.data.take_standard_input();
  std::vector<std::filesystem::path> inputs = options.data.sources();
  inputs.emplace_back(options.model);
  refuse_overwriting({options.labels, options.distances}, inputs);
  try_outputs({options.labels, options.distances});
  supervise(context.plugin_limit());  // after refuse_overwriting(), which may redirect messages
  const Model model = read_model(options.model, options.memory.limit);
  if (const std::string text = scaling_warning(options.model, model); !text.empty()) {
    note("lloyd: warning: {}\n", text);
  }
  options.data.expected_names = model.feature_names;
  BoundedFile file(options.data, options.memory);
  check_features(options.model, model, file);
  warn_of_rounding(file.rounding_losses(), file.feature_names(), options.data);
  if (model.standardization) file.standardize(*model.standardization);
  const ChosenBackend chosen = options.backend.choose(context);
  install_interrupt_handler();
  GuestScope planning;
  FitOptions planned;  // labelling takes no more memory than a fit from given centroids
  planned.clusters = model.clusters;
  planned.seeding.method = SeedingMethod::file;
  const std::int64_t distances_memory =
      options.distances.empty() ? 0 : distances_bytes(file.samples(), file.features());
  const BoundedData data = file.hold(chosen, planned, distances_memory);
  planning.end();
  const Dataset& dataset = data.dataset;
  warn_of_header(dataset, options.data);
  const std::int64_t rows = dataset.samples() + dataset.dropped_rows;  // of the file
  if (!options.labels.empty()) require_labels_space(options.labels, rows);
  if (!options.distances.empty()) require_matrix_space(options.distances, rows);
  GuestScope labelling;
  BackendSession session(chosen.backend, dataset, chosen.parameters, data.block_rows);
  return run_to_end([&] {
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> counts;
    InterruptObserver observer;
    StageLine line;
    line.show(fmt::format("labelling {} samples", dataset.samples()));
    const LabelResult result =
        session.label(model.centroids, model.clusters, labels, counts, nullptr, &observer);
    line.clear();
    const ResultCheck check = session.check(
        model.centroids, labels, result.inertia,
        [&](std::int64_t done, std::int64_t total) { line.update("checking", done, total); });
    labelling.end();
    std::vector<double> distances;
    if (!options.distances.empty()) {
      distances =
          in_file_rows(distances_to_centroids(dataset, model.centroids, labels),
                       dataset.dropped_row_numbers, std::numeric_limits<double>::quiet_NaN());
    }
    labels = in_file_rows(std::move(labels), dataset.dropped_row_numbers, kNoLabel);

    Delivery delivery;
    delivery.print([&] {
      if (options.json) {
        print_json({{"dataset", {{"name", dataset.name()}, {"samples", dataset.samples()}}},
                    {"backend",
                     {{"name", chosen.backend->name()},
                      {"parameters", parameters_json(chosen.parameters)}}},
                    {"clusters", model.clusters},
                    {"inertia", result.inertia},
                    {"counts", counts},
                    {"open_ms", session.open_ms()},
                    {"label_ms", result.label_ms},
                    {"check", experiment::to_json(check)}});
      } else if (options.labels.empty() && options.distances.empty()) {
        for (const std::int32_t label : labels) write_result(fmt::format("{}\n", label));
      } else {
        print_text("labelled {} samples of {} by {} centroids of {}: inertia {:.6g}\n",
                   dataset.samples(), printable(dataset.name()), model.clusters, options.model,
                   result.inertia);
      }
    });
    const auto write = [&](const std::filesystem::path& path) { write_labels(path, labels); };
    if (!options.labels.empty() && delivery.write(options.labels, write)) {
      note("wrote {}\n", options.labels);
    }
    const auto write_distances = [&](const std::filesystem::path& path) {
      write_matrix(path, distances, 1);
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
  command->add_flag("--json", options->json, "Print a summary as JSON");
  command->callback([&context, options] {
    context.action = [&context, options] { return predict(context, *options); };
  });
}

}  // namespace lloyd::apps
