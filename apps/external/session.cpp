#include "external/session.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/json_fields.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/internal/uncounted_distances.hpp>
#include <lloyd/plugin/abi/exact_sum.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

#include "external/description.hpp"
#include "process/stop_request.hpp"
#include "text/names.hpp"

namespace lloyd::external {
namespace {

using nlohmann::ordered_json;

// Throws Error for an invalid answer, which the message quotes.
[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view request,
                         std::string_view answer, std::string_view fault) {
  throw Error(fmt::format("the program {} answered the request '{}' with {}: {}", file.string(),
                          request, quoted_line(answer), fault));
}

// Parses an answer. Throws Error if it is invalid, StatusError if it reports a failure.
ordered_json parse_answer(const std::filesystem::path& file, std::string_view request,
                          const std::string& answer) {
  ordered_json json;
  if (answer.find_first_not_of(" \t\r") == std::string::npos) {
    throw Error(fmt::format("the program {} answered the request '{}' with an empty line",
                            file.string(), request));
  }
  try {
    json = parse_json(answer, kMaxJsonLevels);
  } catch (const InputError& error) {
    refuse(file, request, answer, error.what());
  }
  if (!json.is_object()) refuse(file, request, answer, "it is not a JSON object");
  if (request != "fit" && json.contains("iterations")) {
    throw StrayLine(
        fmt::format("the program {} answered the request 'fit' twice, the second time {}",
                    file.string(), quoted_line(answer)));
  }
  if (json.contains("error")) {
    const JsonFields fields(json);
    bool out_of_memory = false;
    std::string error;
    try {
      out_of_memory = json.contains("out_of_memory") && fields.boolean("out_of_memory");
      error = fields.text("error");
    } catch (const InputError& wrong) {
      refuse(file, request, answer, wrong.what());
    }
    if (error.find_first_not_of(" \t\r\n") == std::string::npos) {
      error = "it failed, and its 'error' is empty";
    }
    throw StatusError(out_of_memory ? StatusCode::out_of_memory : StatusCode::internal, error);
  }
  return json;
}

Matrix view_of(const DatasetView& dataset) {
  Matrix matrix;
  matrix.data = dataset.data;
  matrix.rows = dataset.samples;
  matrix.columns = dataset.features;
  matrix.stride = dataset.stride;
  matrix.dtype = dataset.dtype;
  return matrix;
}

template <class T>
double inertia_of(const DatasetView& dataset, const double* centroids, const std::int32_t* labels) {
  ExactSum sum;
  const auto* rows = static_cast<const T*>(dataset.data);
  for (std::int64_t i = 0; i < dataset.samples; ++i) {
    sum.add(squared_distance(rows + i * dataset.stride, centroids + labels[i] * dataset.features,
                             dataset.features));
  }
  return sum.value();
}

// Calls take(row, values) for each row of `source`. Reads in small blocks to save memory.
template <class T, class Take>
void for_each_row(const RowSource& source, Take&& take) {
  constexpr std::int64_t kBlockValues = std::int64_t{1} << 16;
  const std::int64_t columns = source.features();
  const std::int64_t block = std::max<std::int64_t>(1, kBlockValues / columns);
  std::vector<T> values(static_cast<std::size_t>(std::min(block, source.samples()) * columns));
  for (std::int64_t begin = 0; begin < source.samples(); begin += block) {
    const RowRange rows{begin, std::min(begin + block, source.samples())};
    source.read(rows, values.data());
    for (std::int64_t i = 0; i < rows.size(); ++i) take(begin + i, values.data() + i * columns);
  }
}

// Reads an array that the program wrote and calls take(row, values) for each row. Throws Error,
// before any values are read, if the shape is wrong.
template <class Take>
void read_array(const std::filesystem::path& file, std::int64_t rows, std::int64_t columns,
                Take&& take) {
  const std::unique_ptr<RowSource> source = open_rows(file);
  if (source->samples() != rows || source->features() != columns) {
    throw Error(fmt::format("{} is {} x {}, not {} x {}", file.string(), source->samples(),
                            source->features(), rows, columns));
  }
  if (source->dtype() == DType::float32) {
    for_each_row<float>(*source, take);
  } else {
    for_each_row<double>(*source, take);
  }
}

}  // namespace

void prepare(ServingProgram& program) {
  if (!program.prepares || program.process != nullptr) return;
  try {
    program.process = std::make_unique<Program>(program.file, "serve");
    const std::optional<std::string> answer =
        program.process->ask("prepare", R"({"request": "prepare"})", apps::interrupted);
    if (answer) {
      parse_answer(program.file, "prepare", *answer);
      return;
    }
  } catch (const std::exception&) {  // the first session reports it
  }
  program.process.reset();
}

ExternalSession::ExternalSession(ServingProgram& program, const DatasetView& dataset,
                                 const std::string& parameters)
    : program_(program), dataset_(dataset) {
  write_npy(folder_ / "samples.npy", view_of(dataset));
  open_request_ = ordered_json{{"request", "open"},
                               {"samples", (folder_ / "samples.npy").string()},
                               {"parameters", ordered_json::parse(parameters)}}
                      .dump();
  open();
}

ExternalSession::~ExternalSession() {
  guarded([&] {
    try {
      close();
    } catch (const std::exception& error) {
      program_.process.reset();
      program_.close_failure = printable(error.what());
    }
  });
}

// Starts the program if it is not running, and opens the data set in it. If the program served
// another session or prepared before, a stray line is a late second answer to that session, and an
// end of the program is the end of that session. Both are recorded as that session's failure, and
// the program is replaced, so that no trial of this session fails.
void ExternalSession::open() {
  const bool served = program_.process != nullptr;
  const auto replace = [&](const Error& error) {
    program_.process.reset();
    if (!served) throw;
    program_.close_failure = error.what();
    open();
  };
  try {
    if (served) {
      program_.process->refuse_stray_line();
    } else {
      program_.process = std::make_unique<Program>(program_.file, "serve");
    }
    const std::optional<std::string> answer =
        program_.process->ask("open", open_request_, apps::interrupted);
    if (!answer) {
      throw StatusError(StatusCode::cancelled,
                        fmt::format("the program {} was killed while it opened the data: the "
                                    "command was interrupted",
                                    program_.file.string()));
    }
    parse_answer(program_.file, "open", *answer);
    // The late answer may have been taken for that to `open`, which then comes behind it.
    if (served) program_.process->refuse_stray_line("close' or 'open");
  } catch (const StrayLine& late) {
    replace(late);
  } catch (const ProgramEnded& end) {
    replace(end);
  } catch (...) {
    program_.process.reset();
    throw;
  }
}

// All results have been read, so if `close` timed out before, the program is killed at once.
void ExternalSession::close() {
  if (program_.process == nullptr) return;
  if (program_.close_hangs) {
    program_.process.reset();
    program_.close_failure = fmt::format(
        "the program {} was killed instead of closed, as it did not answer the request "
        "'close' before",
        program_.file.string());
    return;
  }
  const auto begin = Program::Clock::now();
  try {
    const std::string answer =
        *program_.process->ask("close", R"({"request": "close"})", {}, program_.close_limit);
    parse_answer(program_.file, "close", answer);
    program_.process->refuse_stray_line();
  } catch (...) {
    program_.close_hangs = Program::Clock::now() - begin >= program_.close_limit;
    throw;
  }
}

Status ExternalSession::fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept {
  return guarded([&] { run_fit(spec, observer, result); });
}

void ExternalSession::run_fit(const FitSpec& spec, Observer* observer, FitResult& result) {
  result.valid = 0;
  notes_.clear();
  if (program_.process == nullptr) open();
  const std::span<const double> start(spec.initial_centroids,
                                      static_cast<std::size_t>(spec.clusters * dataset_.features));
  // Removes the files of the former fit: replacing centroids.npy would sync it to disk in vain, and
  // the program's former results must not be taken for new ones.
  for (const char* file : {"centroids.npy", "final_centroids.npy", "labels.npy"}) {
    std::filesystem::remove(folder_ / file);
  }
  write_npy(folder_ / "centroids.npy", start, dataset_.features);
  const ordered_json request{{"request", "fit"},
                             {"clusters", spec.clusters},
                             {"centroids", (folder_ / "centroids.npy").string()},
                             {"max_iterations", spec.max_iterations},
                             {"fixed_iterations", spec.stop_rule == StopRule::fixed},
                             {"tolerance", spec.tolerance},
                             {"empty_clusters", apps::to_string(spec.empty_clusters)},
                             {"final_centroids", (folder_ / "final_centroids.npy").string()},
                             {"labels", (folder_ / "labels.npy").string()}};
  std::optional<std::string> answer;
  try {
    answer = program_.process->ask(
        "fit", request.dump(), [&] { return observer != nullptr && observer->stop_requested(); });
  } catch (...) {
    program_.process.reset();
    throw;
  }
  if (!answer) {
    program_.process.reset();
    // The finished iterations are lost: the result is the initial centroids.
    if (result.centroids != nullptr) std::copy(start.begin(), start.end(), result.centroids);
    result.iterations = 0;
    result.valid = kValidCentroids;
    result.stop_reason = StopReason::cancelled;
    throw StatusError(StatusCode::cancelled, "the observer asked to stop");
  }
  read_answer(spec, *answer, result);
}

void ExternalSession::read_answer(const FitSpec& spec, const std::string& answer,
                                  FitResult& result) {
  const ordered_json json = parse_answer(program_.file, "fit", answer);
  bool converged = false;
  try {
    const JsonFields fields(json);
    result.iterations = fields.integer("iterations", 1, spec.max_iterations);
    result.loop_ms = fields.number("loop_ms", 0);
    result.closing_ms = fields.number("closing_ms", 0);
    converged = fields.boolean("converged");
    result.distances =
        fields.has("distances") ? fields.integer("distances", 0) : kUncountedDistances;
    notes_ = fields.text_or_nothing("notes").substr(0, kMaxNotesBytes - 1);
  } catch (const InputError& wrong) {
    refuse(program_.file, "fit", answer, wrong.what());
  }
  if (spec.stop_rule == StopRule::fixed && result.iterations != spec.max_iterations) {
    throw Error(fmt::format("it stopped after {} of {}; with fewer in the experiment times compare",
                            result.iterations, format_count(spec.max_iterations, "iteration")));
  }
  if (!converged && result.iterations != spec.max_iterations) {
    throw Error(fmt::format("it stopped after {} of {} and says that it has not converged",
                            result.iterations, format_count(spec.max_iterations, "iteration")));
  }
  const bool early = converged && spec.stop_rule == StopRule::converge;
  result.stop_reason = early ? StopReason::labels : StopReason::max_iterations;
  result.relocations = 0;
  std::int64_t all_distances = 0;
  if (__builtin_mul_overflow(dataset_.samples * spec.clusters, result.iterations + 1,
                             &all_distances)) {
    throw Error(fmt::format("it reports {}, whose distances are more than 2^63",
                            format_count(result.iterations, "iteration")));
  }
  read_centroids(spec, result);
  read_labels(spec, result);
}

void ExternalSession::read_centroids(const FitSpec& spec, FitResult& result) const {
  read_array(folder_ / "final_centroids.npy", spec.clusters, dataset_.features,
             [&](std::int64_t c, const auto* values) {
               std::copy_n(values, dataset_.features, result.centroids + c * dataset_.features);
             });
  result.valid |= kValidCentroids;
}

void ExternalSession::read_labels(const FitSpec& spec, FitResult& result) const {
  std::fill_n(result.counts, spec.clusters, 0);
  read_array(folder_ / "labels.npy", dataset_.samples, 1, [&](std::int64_t i, const auto* value) {
    const double label = *value;
    if (!(label >= 0 && label < static_cast<double>(spec.clusters)) || label != std::floor(label)) {
      throw Error(fmt::format("the label of sample {} is {}, with {}", i, label,
                              format_count(spec.clusters, "cluster")));
    }
    result.labels[i] = static_cast<std::int32_t>(label);
    ++result.counts[result.labels[i]];
  });
  result.inertia = dataset_.dtype == DType::float32
                       ? inertia_of<float>(dataset_, result.centroids, result.labels)
                       : inertia_of<double>(dataset_, result.centroids, result.labels);
  result.valid |= kValidLabels | kValidCounts | kValidInertia;
}

Status ExternalSession::label(const LabelRequest&, Observer*, LabelResult&) noexcept {
  return Status::error(StatusCode::unsupported, "an external program runs fits only");
}

Status ExternalSession::partial(const PartialRequest&, Observer*, PartialResult&) noexcept {
  return Status::error(StatusCode::unsupported, "an external program runs fits only");
}

void* ExternalSession::query(const char* interface_name) noexcept {
  if (std::string_view(interface_name) != kSessionNotes) return nullptr;
  return static_cast<SessionNotes*>(this);
}

}  // namespace lloyd::external
