#include "fit/ranks/fit_on_ranks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <boost/functional/hash.hpp>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/memory_plan.hpp>

#include "fit/fit_report.hpp"
#include "fit/ranks/rank_files.hpp"
#include "fit/ranks/rank_scope.hpp"
#include "options/context.hpp"
#include "options/data_guards.hpp"
#include "output/delivery.hpp"
#include "output/output.hpp"
#include "process/exit_status.hpp"
#include "progress/fit_progress.hpp"
#include "supervision/guest_scope.hpp"
#include "supervision/interrupt.hpp"
#include "supervision/supervision.hpp"

namespace lloyd::apps {
namespace {

// Throws InputError for options and formats that work only with one process.
void refuse_single_process_options(const FitCommandOptions& options) {
  const auto refuse = [](bool given, std::string_view what, std::string_view instead) {
    if (!given) return;
    throw InputError(fmt::format("{} cannot be used with several processes; {}", what, instead));
  };
  const auto format = find_format(options.data.file);
  constexpr std::string_view kConvert = "convert it to .npy with 'lloyd data convert'";
  refuse(options.data.file == "-", "standard input", "give a file's name");
  refuse(format == FileFormat::csv, "a text file", kConvert);
  refuse(format == FileFormat::npz, "an .npz file", kConvert);
  refuse(options.data.drop_missing, "--drop-missing",
         "use 'lloyd data convert --drop-missing' first");
  refuse(options.standardize, "--standardize", "standardize the data first");
  refuse(options.tries_range(), "a range of k",
         "choose k with one process, on a subset of the samples");
  refuse(!options.plot.empty(), "--plot", "draw a subset of the samples with one process");
  refuse(!options.labels.empty() && lower_case_extension(options.labels) != ".npy",
         "a text file of labels",
         "write labels to an .npy file (--labels FILE.npy, or -o FOLDER --format npy)");
}

// A hash of some rows, spread evenly from the first to the last.
std::int64_t hash_of_sampled_rows(const RowSource& source) {
  constexpr std::int64_t kRows = 32;
  std::vector<std::byte> row(static_cast<std::size_t>(source.features() * size_of(source.dtype())));
  std::size_t hash = 0;
  const std::int64_t count = std::min(kRows, source.samples());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = count == 1 ? 0 : i * (source.samples() - 1) / (count - 1);
    source.read({at, at + 1}, row.data());
    boost::hash_combine(hash, boost::hash_range(row.begin(), row.end()));
  }
  return static_cast<std::int64_t>(hash);
}

// Throws on all ranks unless the file has the same number of samples and, in the rows that are
// compared, the same values on each.
void require_same_file(const RowSource& source, const Ranks& ranks) {
  std::int64_t hash = 0;
  ranks.together([&] { hash = hash_of_sampled_rows(source); });
  const std::vector<std::int64_t> samples = ranks.gather(source.samples());
  const std::vector<std::int64_t> hashes = ranks.gather(hash);
  const std::vector<HostName> hosts = ranks.gather(host_name());
  for (std::size_t rank = 1; rank < samples.size(); ++rank) {
    const std::string name = name_of_rank(static_cast<int>(rank), hosts[rank]);
    if (samples[rank] != samples[0]) {
      throw InputError(
          fmt::format("{} has {} samples on rank 0, but {} on {}; all ranks must "
                      "see the same file",
                      source.name(), samples[0], samples[rank], name));
    }
    if (hashes[rank] != hashes[0]) {
      throw InputError(
          fmt::format("{} has other values on {} than on rank 0; all ranks must see the same file",
                      source.name(), name));
    }
  }
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

// What this rank has opened: the file, the backend and its rows.
struct RankInputs {
  std::unique_ptr<RowSource> source;
  std::optional<ChosenBackend> chosen;
  RowRange rows;
  Matrix matrix;
};

RankInputs open_inputs(const Context& context, FitCommandOptions& options, RankScope& scope) {
  const Ranks& ranks = scope.ranks();
  RankInputs inputs;
  scope.enter("while reading the data");
  ranks.together([&] {
    options.complete();
    options.complete_outputs();
    refuse_single_process_options(options);
    if (ranks.rank() == 0) options.try_outputs();
    inputs.source = options.data.open_rows();
    inputs.chosen = options.backend.choose(context);
  });
  require_same_file(*inputs.source, ranks);
  const std::int64_t writes_labels = options.labels.empty() ? 0 : 1;
  constexpr const char* kNames[] = {"--labels"};
  ranks.require_same(std::span(&writes_labels, 1), kNames);
  inputs.rows = rows_of_rank(inputs.source->samples(), ranks.rank(), ranks.size());
  ranks.together([&] {
    ProblemShape shape;
    shape.samples = inputs.rows.size();
    shape.features = shape.stride = inputs.source->features();
    shape.clusters = options.fit.clusters;
    shape.dtype = inputs.source->dtype();
    if (shape.samples > 0) {
      FitOptions local = options.fit;
      local.clusters = std::min(local.clusters, shape.samples);
      plan_memory(inputs.source->name(), *inputs.chosen->backend, shape, inputs.chosen->parameters,
                  local, text_memory(options.memory.limit), /*in_blocks=*/false);
    }
    if (ranks.rank() == 0 && !options.labels.empty()) {
      require_labels_space(options.labels, inputs.source->samples());
    }
    inputs.matrix = read_rows(*inputs.source, inputs.rows, ranks);
  });
  return inputs;
}

// Rank 0 delivers the file that all ranks write; it may have to try several places.
void write_labels_together(const std::filesystem::path& file, const Fit& fit,
                           const Dataset& dataset, const Ranks& ranks, Delivery& delivery) {
  const auto write = [&](const std::filesystem::path& place) {
    write_rank_labels(place, fit.labels, dataset.first_row(), dataset.total_samples(), ranks);
  };
  std::int32_t tries = 0;
  if (ranks.rank() == 0) {
    const bool written = delivery.write(file, [&](const std::filesystem::path& place) {
      tries = 1;
      ranks.broadcast(std::span(&tries, 1), 0);
      write(place);
    });
    tries = 0;
    ranks.broadcast(std::span(&tries, 1), 0);
    if (written) note("wrote {}\n", file.string());
    return;
  }
  while (true) {
    ranks.broadcast(std::span(&tries, 1), 0);
    if (tries == 0) return;
    try {
      write({});
    } catch (const AgreedError&) {
      // Rank 0 has the same error.
    }
  }
}

// Rank 0 writes the model and centroids, all ranks the labels.
void write_files(const FitCommandOptions& options, const Fit& fit, const Dataset& dataset,
                 const Ranks& ranks, Delivery& delivery) {
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
    return write_labels_together(options.labels, fit, dataset, ranks, delivery);
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
  return {fmt::format("{} of the {} clusters are empty", empty, fit.clusters)};
}

ExitStatus fit_rows(const FitCommandOptions& options, RankInputs inputs, RankScope& scope,
                    Delivery& delivery) {
  const Ranks& ranks = scope.ranks();
  const Dataset dataset =
      Dataset::part(inputs.source->name(), std::move(inputs.matrix), scope.communicator());
  std::vector<std::string> warnings;
  if (scope.is_first()) {
    warnings = data_warnings(dataset, options.data, false);
    note_warnings(warnings);
  }
  GuestScope fitting;
  BackendSession session(inputs.chosen->backend, dataset, inputs.chosen->parameters);
  RankProgress progress(options.fit, dataset.total_samples(), scope);
  scope.enter("before its first iteration");
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
    const FitReport report{dataset,           *inputs.chosen, options.fit,  fit,
                           session.open_ms(), warnings,       ranks.size(), times};
    delivery.print([&] {
      if (options.json) {
        print_json(to_json(report));
      } else {
        print(report);
      }
    });
  }
  write_files(options, fit, dataset, ranks, delivery);
  if (scope.is_first()) {
    options.note_stale_files();
    // As long as a result is missing, it can be had from the checkpoint.
    if (delivery.complete()) options.checkpoint.finish(options.fit, fit);
    note_memory_beyond(options.memory, inputs.chosen->backend->name());
  }
  return fit.cancelled ? kInterrupted : kDone;
}

}  // namespace

void refuse_unjoined_processes(const std::vector<RefusedPlugin>& refused) {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0' || std::string_view(value) == "1") continue;
    throw InputError(fmt::format(
        "a launcher started {} processes ({}), but this lloyd has no MPI plugin "
        "(lloyd-communicator-mpi.so), so each would fit the whole file; build lloyd where MPI is "
        "installed, or unset the variable{}{}",
        printable(value), variable, refused.empty() ? "" : "; ",
        refused.empty() ? "" : refused.front().reason));
  }
}

int fit_on_ranks(const Context& context, FitCommandOptions options, const LaunchedJob& job) {
  supervise(context.plugin_limit());
  install_interrupt_handler();
  RankScope scope(job, static_cast<double>(options.comm_timeout));
  Delivery delivery;
  const int status = scope.run([&] {
    return with_core_errors([&] {
      return static_cast<int>(
          fit_rows(options, open_inputs(context, options, scope), scope, delivery));
    });
  });
  delivery.finish();  // only rank 0 has anything to report
  return status;
}

}  // namespace lloyd::apps
