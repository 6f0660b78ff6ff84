#include "checkpoint/fit_checkpoints.hpp"

#include <exception>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/plugin/sdk/iteration_rules.hpp>

#include "dataset/fingerprint.hpp"

namespace lloyd {
namespace {

using nlohmann::ordered_json;

std::string hash_text(const double* values, std::int64_t rows, std::int64_t columns) {
  Fingerprint fingerprint(rows, columns, DType::float64);
  fingerprint.add(values, columns, rows);
  return fmt::format("{:016x}", fingerprint.value());
}

// Identifies the values of a data set, whatever its distribution over ranks and its place. Samples
// in another order have the same statistics.
std::string hash_of_statistics(const std::vector<FeatureStatistics>& statistics) {
  constexpr std::int64_t kColumns = 5;
  std::vector<double> values;
  for (const FeatureStatistics& feature : statistics) {
    for (const double value : {feature.minimum, feature.maximum, feature.mean, feature.variance,
                               static_cast<double>(feature.quantum_exponent)}) {
      values.push_back(value);
    }
  }
  return hash_text(values.data(), std::ssize(statistics), kColumns);
}

const char* name_of(EmptyClusters policy) {
  switch (policy) {
    case EmptyClusters::relocate:
      return "relocate";
    case EmptyClusters::keep:
      return "keep";
    case EmptyClusters::error:
      return "error";
  }
  return "";
}

// What the fit must share with the one that wrote the checkpoint. The values of the samples are
// last, so that a message names their cause first, such as another dtype.
ordered_json problem_of(const BackendSession& session, const FitOptions& options,
                        const CheckpointOptions& checkpoints) {
  const Dataset& dataset = session.dataset();
  const Seeding& seeding = options.seeding;
  ordered_json problem;
  for (const auto& [name, value] : checkpoints.conditions) problem[name] = value;
  problem["samples"] = dataset.total_samples();
  problem["features"] = dataset.features();
  problem["dtype"] = dataset.dtype() == DType::float32 ? "float32" : "float64";
  problem["clusters"] = options.clusters;
  problem["seeding"] = to_string(seeding.method);
  problem["seed"] = seeding.seed;
  if (seeding.method == SeedingMethod::kmeans_parallel) {
    problem["oversampling"] = seeding.oversampling;
    problem["rounds"] = seeding.rounds;
  }
  if (seeding.method == SeedingMethod::file) {
    problem["initial_centroids"] =
        hash_text(seeding.centroids.data(), 1, std::ssize(seeding.centroids));
  }
  problem["restarts"] = options.restarts;
  problem["fixed_iterations"] = options.fixed_iterations;
  if (!options.fixed_iterations) problem["tolerance"] = options.tolerance;
  // One restart may be resumed with a higher limit; of several, it would have changed finished
  // ones.
  if (options.restarts > 1) problem["max_iterations"] = options.max_iterations;
  problem["empty_clusters"] = name_of(options.empty_clusters);
  const LoadedBackend& backend = session.backend();
  const std::string changes = session.parameters().describe_changes();
  const bool canonical = backend.reproducibility(dataset.dtype()) == Reproducibility::canonical;
  problem["backend"] =
      canonical ? kCanonicalBackends
                : fmt::format("{}{}{}", backend.name(), changes.empty() ? "" : " ", changes);
  problem["values"] = hash_of_statistics(dataset.statistics());
  return problem;
}

}  // namespace

void check_checkpoint_options(const CheckpointOptions& checkpoints) {
  const double seconds = checkpoints.every_seconds;
  const std::int64_t iterations = checkpoints.every_iterations;
  if (checkpoints.folder.empty() && (checkpoints.resume || iterations != 0)) {
    throw InputError(fmt::format(
        "CheckpointOptions::{} is set, but its folder is empty, so there are no checkpoints; name "
        "their folder",
        checkpoints.resume ? "resume" : "every_iterations"));
  }
  if (iterations < 0) {
    throw InputError(fmt::format(
        "CheckpointOptions::every_iterations is {}; it must be at least 1, or 0 for checkpoints by "
        "time",
        iterations));
  }
  if (!(seconds > 0)) {
    throw InputError(fmt::format(
        "CheckpointOptions::every_seconds is {}; it must be above 0 (every_iterations = 1 writes a "
        "checkpoint after each iteration)",
        seconds));
  }
  if (iterations > 0 && seconds != CheckpointOptions().every_seconds) {
    throw InputError(fmt::format(
        "CheckpointOptions has every_iterations = {} and every_seconds = {}; set only one of them",
        iterations, seconds));
  }
}

FitCheckpoints::FitCheckpoints(const BackendSession& session, const FitOptions& options,
                               const CheckpointOptions& checkpoints, Observer* observer)
    : options_(options),
      checkpoints_(checkpoints),
      observer_(observer),
      ranks_(session.dataset().communicator()),
      mean_variance_(session.dataset().mean_variance()),
      values_(options.clusters * session.dataset().features()),
      folder_(checkpoints.folder, problem_of(session, options, checkpoints)) {
  ranks_.together([&] {
    if (ranks_.rank() != 0) return;
    std::error_code error;
    if (!std::filesystem::is_directory(checkpoints.folder, error)) {
      throw InputError(fmt::format("the checkpoint folder {} does not exist or is no folder",
                                   checkpoints.folder.string()));
    }
    if (checkpoints.resume || !has_checkpoint(checkpoints.folder)) return;
    throw InputError(fmt::format(
        "{} has the checkpoint of an unfinished fit; resume that fit, or remove the checkpoint",
        checkpoints.folder.string()));
  });
}

std::optional<CheckpointContent> FitCheckpoints::load() {
  std::optional<CheckpointContent> content;
  ranks_.together([&] {
    if (ranks_.rank() != 0 || !has_checkpoint(checkpoints_.folder)) return;
    content = folder_.load();
    const FitState& state = content->state;
    if (state.iterations >= options_.max_iterations) {
      throw InputError(
          fmt::format("the checkpoint in {} has reached iteration {}, but the fit may have only {}",
                      checkpoints_.folder.string(), state.iterations + 1,
                      format_count(options_.max_iterations, "iteration")));
    }
    if (state.restart >= options_.restarts) {
      throw InputError(fmt::format("the checkpoint in {} is in restart {}, but the fit has only {}",
                                   checkpoints_.folder.string(), state.restart + 1,
                                   format_count(options_.restarts, "restart")));
    }
  });
  std::int32_t found = content ? 1 : 0;
  ranks_.broadcast(std::span(&found, 1), 0);
  if (found == 0) return std::nullopt;
  if (!content) content.emplace();
  broadcast(*content);
  last_ = Clock::now();
  if (checkpoints_.on_resume) {
    checkpoints_.on_resume({content->state.restart, content->state.iterations});
  }
  return content;
}

void FitCheckpoints::broadcast(CheckpointContent& content) const {
  FitState& state = content.state;
  std::int64_t numbers[] = {state.restart, state.iterations, state.relocations,
                            state.centroids.empty() ? 0 : 1, content.best ? 1 : 0};
  ranks_.broadcast(std::span<std::int64_t>(numbers), 0);
  state.restart = numbers[0];
  state.iterations = numbers[1];
  state.relocations = numbers[2];
  if (numbers[3] != 0) {
    state.centroids.resize(static_cast<std::size_t>(values_));
    ranks_.broadcast(std::span(state.centroids), 0);
  }
  if (numbers[4] == 0) return;
  if (!content.best) content.best.emplace();
  Fit& best = *content.best;
  ranks_.broadcast(std::span(&best.restart, 1), 0);
  ranks_.broadcast(std::span(&best.result, 1), 0);
  best.centroids.resize(static_cast<std::size_t>(values_));
  ranks_.broadcast(std::span(best.centroids), 0);
}

FitOptions FitCheckpoints::options_from(const FitState& state) const {
  FitOptions options = options_;
  options.max_iterations -= state.iterations;
  options.observe |= kObserveIterations | kObserveCentroids;
  return options;
}

void FitCheckpoints::begin(const FitState& state, bool loaded, const Fit* best) {
  spec_ = make_spec(options_from(state), mean_variance_);
  begin_ = {state.restart, state.iterations, state.relocations};
  relocations_ = state.relocations;
  best_ = best;
  if (ranks_.rank() != 0) return;
  centroids_ = state.centroids;
  state_ = state;
  saved_ = loaded;
  save_if_due(true);
}

void FitCheckpoints::complete(Fit& fit) const {
  fit.result.iterations += begin_.iterations;
  fit.result.relocations += begin_.relocations;
  fit.resumed_iterations = begin_.iterations;
}

void FitCheckpoints::end(const Fit& best) {
  if (ranks_.rank() != 0) return;
  if (begin_.restart + 1 < options_.restarts) {
    state_ = {begin_.restart + 1};
    best_ = &best;
    saved_ = false;
    save_if_due(true);
  } else if (options_.restarts == 1 && !options_.fixed_iterations &&
             best.result.stop_reason == StopReason::max_iterations) {
    save();  // a fit with a higher limit can go on from here
  }
}

void FitCheckpoints::save() {
  if (ranks_.rank() != 0 || saved_) return;
  last_ = Clock::now();
  try {
    folder_.save(state_, best_);
    saved_ = true;
  } catch (const std::exception& error) {
    if (!error_.empty()) return;
    error_ = fmt::format("a checkpoint cannot be written; the fit continues without it: {}",
                         error.what());
    if (checkpoints_.on_warning) checkpoints_.on_warning(error_);
  }
}

void FitCheckpoints::save_if_due(bool iteration_is_due) {
  const bool by_time = checkpoints_.every_iterations == 0;
  const auto since_last = [this] {
    return std::chrono::duration<double>(Clock::now() - *last_).count();
  };
  // The first one is written at once: seeding may have taken long.
  const bool due =
      !last_ || (by_time ? since_last() >= checkpoints_.every_seconds : iteration_is_due);
  if (due) save();
}

void FitCheckpoints::advance(const IterationRecord& record, std::int64_t iteration) {
  const StopReason reason = stop_reason(spec_, record);
  // The fit stops here. A resumed fit that repeats this iteration could not apply these rules,
  // since it does not know the labels before it.
  if (reason == StopReason::labels || reason == StopReason::tolerance) return;
  state_.centroids.swap(centroids_);
  state_.iterations = iteration - 1;
  state_.relocations = relocations_;
  centroids_.assign(record.centroids, record.centroids + values_);
  relocations_ += record.relocations;
  saved_ = false;
  const std::int64_t every = checkpoints_.every_iterations;
  save_if_due(every > 0 && iteration % every == 0);
}

bool FitCheckpoints::on_iteration(const IterationRecord& record) noexcept {
  IterationRecord whole = record;
  whole.iteration += begin_.iterations;
  if (ranks_.rank() == 0) {
    try {
      advance(record, whole.iteration);
    } catch (const std::exception&) {
      return false;  // out of memory for a message
    }
  }
  if (observer_ == nullptr || options_.observe == 0) return true;
  if ((options_.observe & kObserveCentroids) == 0) whole.centroids = nullptr;
  return observer_->on_iteration(whole);
}

bool FitCheckpoints::stop_requested() const noexcept {
  return observer_ != nullptr && observer_->stop_requested();
}

void* FitCheckpoints::query(const char* name) noexcept {
  return observer_ == nullptr ? nullptr : observer_->query(name);
}

}  // namespace lloyd
