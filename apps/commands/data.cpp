// lloyd data: makes, converts and describes data files.
#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/copy_rows.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>

#include "commands/commands.hpp"
#include "fit/ranks/launched_command.hpp"
#include "guards/data_guards.hpp"
#include "options/bounded_data.hpp"
#include "options/data_options.hpp"
#include "output/output.hpp"
#include "progress/rows_progress.hpp"
#include "supervision/interrupt.hpp"
#include "text/names.hpp"
#include "text/numbers.hpp"
#include "text/whole_number.hpp"

namespace lloyd::apps {
namespace {

std::string output_help() {
  return fmt::format("The {} file to write", enumerated(writable_extensions(), "or"));
}

struct BlobsOptions {
  BlobsSpec spec;
  std::string dtype = "float32";
  std::string output;
};

// Runs `copy` to an absolute path, with progress, until interrupted().
template <class Copy>
CopiedRows write_file(const std::string& output, const std::vector<std::filesystem::path>& inputs,
                      CopyOptions options, const Copy& copy) {
  refuse_hyphen(output, enumerated(writable_extensions(), "or"));
  const std::filesystem::path file = absolute_path(output);
  refuse_overwriting({file}, inputs);
  install_interrupt_handler();
  CopiedRows written;
  {
    RowsProgress progress("written");
    options.progress = [&](std::int64_t samples, double part) {
      return progress.update(samples, part);
    };
    written = copy(file, options);
  }
  if (!inputs.empty()) {
    note_dropped_rows(inputs.front().string(), written.dropped, written.samples);
  }
  note("wrote {} of {} to {}\n", format_count(written.samples, "sample"),
       format_count(written.features, "feature"), output);
  return written;
}

int make_blobs_file(BlobsOptions options) {
  options.spec.dtype = parse_dtype(options.dtype);
  const auto rows = blob_rows(options.spec);
  CopyOptions copy;
  copy.threads = std::min(usable_processors(), 64);
  write_file(options.output, {}, copy,
             [&](const std::filesystem::path& file, const CopyOptions& with_progress) {
               return copy_rows(*rows, file, with_progress);
             });
  return kDone;
}

int convert(DataOptions data, const std::string& output) {
  data.take_standard_input();
  FileOptions input = data.file_options();
  input.csv.memory_limit = text_memory();
  CopyOptions copy;
  if (!data.dtype.empty()) copy.dtype = parse_dtype(data.dtype);
  const CopiedRows copied =
      write_file(output, data.sources(), copy,
                 [&](const std::filesystem::path& file, const CopyOptions& with_progress) {
                   return with_missing_advice([&] {
                     if (!data.selects() || find_format(data.file) == FileFormat::csv) {
                       return copy_file(data.file, input, file, with_progress);
                     }
                     const auto rows = data.select(open_rows(data.file, input));
                     return copy_rows(*rows, file, with_progress);
                   });
                 });
  warn_of_header(copied, data);
  warn_of_rounding(copied.rounding_losses, copied.feature_names, data);
  if (copied.has_classes && find_format(output) != FileFormat::csv) {
    note("lloyd: {} has no classes, which only .csv files hold\n", output);
  }
  return kDone;
}

std::string feature_name(const Dataset& dataset, std::size_t j) {
  return dataset.feature_names.empty() ? std::to_string(j) : dataset.feature_names[j];
}

// "each sample has a class", or how many have one.
std::string classes_text(const std::vector<std::string>& classes) {
  const auto none = std::count(classes.begin(), classes.end(), std::string());
  if (none == 0) return "each sample has a class";
  const auto named = std::ssize(classes) - none;
  return fmt::format("{} of {} {} a class", named, format_count(std::ssize(classes), "sample"),
                     named == 1 ? "has" : "have");
}

// The name of the column of classes, or its number; null without classes.
nlohmann::ordered_json class_column_json(const Dataset& dataset) {
  if (dataset.classes.empty()) return nullptr;
  if (dataset.class_name.empty()) return dataset.class_column;
  return dataset.class_name;
}

// Reads text as a whole; other files in one pass, with two blocks in memory unless one has all
// rows.
Dataset describe_file(const DataOptions& data) {
  if (find_format(data.file) == FileFormat::csv) return data.read(text_memory());
  std::unique_ptr<RowSource> source = data.open_rows();
  const StatisticsBlocks blocks = plan_statistics(*source);
  check_reading_memory(data.file, blocks.bytes, std::nullopt);
  return describe_rows(std::move(source), blocks.rows);
}

// Minimum, maximum and mean of a feature have as many digits as distinguish them, 6 at least.
void print_features(const Dataset& dataset) {
  constexpr std::size_t kMaxNameWidth = 40;  // longer names shift their own row only
  constexpr int kMinDigits = 6;
  std::size_t name_width = 7;
  std::array<std::size_t, 3> widths = {12, 12, 12};
  std::vector<std::array<std::string, 3>> rows;
  const auto& features = dataset.statistics();
  for (std::size_t j = 0; j < features.size(); ++j) {
    const std::array<double, 3> values = {features[j].minimum, features[j].maximum,
                                          features[j].mean};
    const int digits =
        experiment::distinguishing_digits({values.begin(), values.end()}, kMinDigits);
    name_width = std::clamp(feature_name(dataset, j).size(), name_width, kMaxNameWidth);
    std::array<std::string, 3>& row = rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = fmt::format("{:.{}g}", values[i], digits);
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  print_text("{:<{}}  {:>{}}  {:>{}}  {:>{}}  {:>12}\n", "feature", name_width, "minimum",
             widths[0], "maximum", widths[1], "mean", widths[2], "variance");
  for (std::size_t j = 0; j < features.size(); ++j) {
    print_text("{:<{}}  {:>{}}  {:>{}}  {:>{}}  {:>12.6g}\n", feature_name(dataset, j), name_width,
               rows[j][0], widths[0], rows[j][1], widths[1], rows[j][2], widths[2],
               features[j].variance);
  }
}

int describe(DataOptions data, bool json) {
  data.take_standard_input();
  refuse_overwriting({}, data.sources());
  const Dataset dataset = describe_file(data);
  const auto& features = dataset.statistics();
  warn_of_header(dataset, data);
  warn_of_rounding(rounding_losses(dataset.rounding, features), dataset.feature_names, data);
  if (json) {
    nlohmann::ordered_json document = {
        {"name", data_name(dataset)},
        {"samples", dataset.samples()},
        {"features", dataset.features()},
        {"dtype", to_string(dataset.dtype())},
        {"fingerprint", fmt::format("{:016x}", dataset.fingerprint())},
        {"class_column", class_column_json(dataset)},
        {"mean_variance", dataset.mean_variance()},
        {"statistics_ms", dataset.statistics_ms()},
        {"statistics", nlohmann::ordered_json::array()}};
    for (std::size_t j = 0; j < features.size(); ++j) {
      document["statistics"].push_back({{"feature", feature_name(dataset, j)},
                                        {"minimum", features[j].minimum},
                                        {"maximum", features[j].maximum},
                                        {"mean", features[j].mean},
                                        {"variance", features[j].variance}});
    }
    print_json(document);
    return kDone;
  }
  print_text("{}: {}, {}, {}, fingerprint {:016x}\n", printable(data_name(dataset)),
             format_count(dataset.samples(), "sample"), format_count(dataset.features(), "feature"),
             to_string(dataset.dtype()), dataset.fingerprint());
  if (!dataset.classes.empty()) {
    print_text("{}, in column {}\n", classes_text(dataset.classes), class_column_text(dataset));
  }
  print_features(dataset);
  return kDone;
}

// Of several ranks, the first one describes the file. They are not joined, because nothing is
// shared.
int info(const Context& context, const DataOptions& data, bool json) {
  return find_job(context) && !is_first_launched() ? kDone : describe(data, json);
}

void add_blobs(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("blobs", "Generate normal clusters around random centres");
  auto options = std::make_shared<BlobsOptions>();
  command->add_option("OUTPUT", options->output, output_help())->required();
  command->add_option("--samples", options->spec.samples, "Number of samples")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command->add_option("--features", options->spec.features, "Number of features")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command->add_option("--centers", options->spec.centers, "Number of centres")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command
      ->add_option("--std", options->spec.std,
                   "Standard deviation of each feature around its centre")
      ->check(number())
      ->capture_default_str();
  command
      ->add_option("--box", options->spec.box, "Centres are uniform in [-box, box] in each feature")
      ->check(number())
      ->capture_default_str();
  command->add_option("--seed", options->spec.seed, "Seed of the random numbers")
      ->check(seed_number())
      ->capture_default_str();
  command->add_option("--dtype", options->dtype, "Type of the samples: float32 or float64")
      ->type_name("TEXT:{float32,float64}")
      ->capture_default_str();
  command->callback(
      [&context, options] { context.action = [options] { return make_blobs_file(*options); }; });
}

void add_convert(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("convert", "Write a data file in another format");
  auto data = std::make_shared<DataOptions>();
  auto output = std::make_shared<std::string>();
  data->add_to(*command);
  command->add_option("OUTPUT", *output, output_help())->required();
  command->get_option("--dtype")->description(
      "Type of the values written: float32 or float64 (default: the type in the file; for text, "
      "float32)");
  command->callback([&context, data, output] {
    context.action = [data, output] { return convert(*data, *output); };
  });
}

void add_info(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("info", "Describe a data file");
  auto data = std::make_shared<DataOptions>();
  auto json = std::make_shared<bool>(false);
  data->add_to(*command);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([&context, data, json] {
    context.action = [&context, data, json] { return info(context, *data, *json); };
  });
}

}  // namespace

void add_data_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("data", "Generate, convert or describe data files");
  command->require_subcommand(1);
  add_blobs(*command, context);
  add_convert(*command, context);
  add_info(*command, context);
}

}  // namespace lloyd::apps
