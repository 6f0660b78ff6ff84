#include "fit/defined_result.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/internal/sampled_rows.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "evaluation/label_evaluation.hpp"
#include "parallel/range_workers.hpp"

namespace lloyd {
namespace {

using Clock = std::chrono::steady_clock;

// Relative tolerance of the inertia: a backend need not sum exactly.
constexpr double kInertiaTolerance = 1e-9;

std::int64_t comparisons_within_budget(std::int64_t samples, std::int64_t values_per_sample) {
  const std::int64_t affordable = kMaxComparedValues / std::max<std::int64_t>(values_per_sample, 1);
  return std::min(samples, std::max(affordable, kMinComparedSamples));
}

[[noreturn]] void fail(const LoadedBackend& backend, const std::string& text) {
  throw BackendError(StatusCode::internal, backend.name() + ": " + text);
}

// The comparison of the labels of all ranks, with the row of the whole data set.
LabelCheck check_of_all(const Dataset& dataset, const Ranks& ranks, LabelCheck mine) {
  if (mine.wrong > 0) mine.first_wrong += dataset.first_row();
  LabelCheck all;
  for (const LabelCheck& part : ranks.gather(mine)) {
    if (all.wrong == 0) all.first_wrong = part.first_wrong;
    all.wrong += part.wrong;
    all.samples += part.samples;
    all.worst_ratio = std::max(all.worst_ratio, part.worst_ratio);
  }
  return all;
}

void require_labels_in_range(const LoadedBackend& backend, std::span<const std::int32_t> labels,
                             std::int64_t clusters) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0 && labels[i] < clusters) continue;
    fail(backend,
         fmt::format("the label of sample {} is {}, with {} clusters", i, labels[i], clusters));
  }
}

void check_exact_labels(const LoadedBackend& backend, const Dataset& dataset,
                        const LabelCheck& found, std::span<const std::int32_t> labels) {
  if (found.wrong == 0 || backend.accuracy(dataset.dtype()) != Accuracy::exact) return;
  const auto row = static_cast<std::size_t>(found.first_wrong);
  fail(backend, fmt::format("it states exact labels, but that of sample {} is {}, which is not "
                            "the nearest centroid; of {} labels that were compared {} are wrong",
                            row, labels[row], found.samples, found.wrong));
}

double milliseconds_of(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

ResultCheck check_by_definition(const LoadedBackend& backend, const Dataset& dataset,
                                const ReturnedLabels& returned,
                                const BlockVisitor& for_each_block) {
  const FloatEnvironment environment;
  const Clock::time_point start = Clock::now();
  const std::int64_t clusters = std::ssize(returned.centroids) / dataset.features();
  const Ranks ranks(dataset.communicator());
  LabelCheck labels;
  ExactSum inertia;
  ranks.together([&] {
    require_labels_in_range(backend, returned.labels, clusters);
    if (dataset.samples() == 0) return;
    const std::vector<std::int64_t> rows =
        sampled_rows(dataset.samples(),
                     comparisons_within_budget(dataset.samples(), std::ssize(returned.centroids)));
    std::span<const std::int64_t> rows_left = rows;
    const RangeWorkers workers;
    LabelEvaluation evaluation(returned.centroids, dataset.features(), returned.labels, workers);
    for_each_block([&](std::int64_t first, const Matrix& block) {
      evaluation.add_inertia(first, block);
      evaluation.compare(first, block, rows_left);
    });
    labels = evaluation.check();
    inertia = evaluation.exact_inertia();
  });
  ResultCheck check;
  check.labels = check_of_all(dataset, ranks, labels);
  check.samples = check.labels.samples;
  check.inertia = ranks.sum(inertia).value();
  check.ms = milliseconds_of(start);
  if (std::abs(returned.inertia - check.inertia) > kInertiaTolerance * check.inertia) {
    fail(backend, fmt::format("it reports an inertia of {}, but its labels and centroids have {}",
                              returned.inertia, check.inertia));
  }
  ranks.together([&] { check_exact_labels(backend, dataset, labels, returned.labels); });
  return check;
}

ResultCheck check_fetched_rows(const LoadedBackend& backend, const Dataset& dataset,
                               const ReturnedLabels& returned) {
  const FloatEnvironment environment;
  const Clock::time_point start = Clock::now();
  const std::int64_t clusters = std::ssize(returned.centroids) / dataset.features();
  require_labels_in_range(backend, returned.labels, clusters);
  const std::int64_t count =
      std::min(comparisons_within_budget(dataset.samples(), std::ssize(returned.centroids)),
               kMaxFetchedSamples);
  const std::vector<std::int64_t> rows = sampled_rows(dataset.samples(), count);
  std::vector<std::int32_t> labels;
  for (const std::int64_t row : rows) {
    labels.push_back(returned.labels[static_cast<std::size_t>(row)]);
  }
  const Matrix fetched =
      Matrix::from_values(dataset.samples_of(rows), std::ssize(rows), dataset.features());
  const RangeWorkers workers;
  LabelEvaluation evaluation(returned.centroids, dataset.features(), labels, workers);
  evaluation.add_inertia(0, fetched);
  evaluation.compare(0, fetched);
  ResultCheck check;
  check.labels = evaluation.check();
  if (check.labels.wrong > 0) {
    check.labels.first_wrong = rows[static_cast<std::size_t>(check.labels.first_wrong)];
  }
  check.samples = check.labels.samples;
  check.ms = milliseconds_of(start);
  if (returned.inertia < (1 - kInertiaTolerance) * evaluation.inertia()) {
    fail(backend, fmt::format("it reports an inertia of {}, but {} of its samples alone have {}",
                              returned.inertia, check.samples, evaluation.inertia()));
  }
  check_exact_labels(backend, dataset, check.labels, returned.labels);
  return check;
}

}  // namespace lloyd
