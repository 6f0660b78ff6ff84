#include "fit/defined_result.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
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

// Throws for wrong values, with one message for those of a backend and one for those of a caller.
class ResultErrors {
 public:
  // All arguments must outlive it.
  ResultErrors(const LoadedBackend& backend, const Dataset& dataset, const ReturnedLabels& returned)
      : backend_(backend), dataset_(dataset), returned_(returned) {}

  [[noreturn]] void throw_label_out_of_range(std::size_t row, std::int64_t clusters) const {
    const std::int32_t label = returned_.labels[row];
    fail(fmt::format("the label of sample {} is {}, with {}", row, label,
                     format_count(clusters, "cluster")),
         fmt::format("labels[{}] is {}; with {}, labels are 0 to {}", row, label,
                     format_count(clusters, "centroid"), clusters - 1));
  }

  [[noreturn]] void throw_wrong_inertia(double defined) const {
    fail(fmt::format("it reports an inertia of {}, but its labels and centroids have {}",
                     returned_.inertia, defined),
         fmt::format("inertia is {}, but that of these labels and centroids is {}",
                     returned_.inertia, defined));
  }

  [[noreturn]] void throw_inertia_below(std::int64_t samples, double of_these) const {
    fail(fmt::format("it reports an inertia of {}, but {} of its samples alone have {}",
                     returned_.inertia, samples, of_these),
         fmt::format("inertia is {}, but {} of the samples alone have {}", returned_.inertia,
                     samples, of_these));
  }

  [[noreturn]] void throw_label_not_nearest(const LabelCheck& found) const {
    const auto row = static_cast<std::size_t>(found.first_wrong);
    const std::int32_t label = returned_.labels[row];
    const std::string all =
        fmt::format("which is not the nearest centroid; of {} that were compared {} are wrong",
                    format_count(found.samples, "label"), found.wrong);
    fail(fmt::format("it states exact labels, but that of sample {} is {}, {}", row, label, all),
         fmt::format("labels[{}] is {}, {}", row, label, all));
  }

 private:
  [[noreturn]] void fail(const std::string& of_backend, const std::string& of_caller) const {
    if (returned_.origin == Origin::caller) {
      throw InputError(fmt::format("{}: {}", dataset_.name(), of_caller));
    }
    throw BackendError(StatusCode::internal, fmt::format("{}: {}", backend_.name(), of_backend));
  }

  const LoadedBackend& backend_;
  const Dataset& dataset_;
  const ReturnedLabels& returned_;
};

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

void require_labels_in_range(const ResultErrors& errors, std::span<const std::int32_t> labels,
                             std::int64_t clusters) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= clusters) errors.throw_label_out_of_range(i, clusters);
  }
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
  const ResultErrors errors(backend, dataset, returned);
  const bool exact = backend.accuracy(dataset.dtype()) == Accuracy::exact;
  LabelCheck labels;
  ExactSum inertia;
  ranks.together([&] {
    require_labels_in_range(errors, returned.labels, clusters);
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
  // False for NaN.
  const bool agrees =
      std::abs(returned.inertia - check.inertia) <= kInertiaTolerance * check.inertia;
  // Callers may pass another inertia on each rank.
  ranks.together([&] {
    if (!agrees) errors.throw_wrong_inertia(check.inertia);
    if (exact && labels.wrong > 0) errors.throw_label_not_nearest(labels);
  });
  return check;
}

ResultCheck check_fetched_rows(const LoadedBackend& backend, const Dataset& dataset,
                               const ReturnedLabels& returned) {
  const FloatEnvironment environment;
  const Clock::time_point start = Clock::now();
  const std::int64_t clusters = std::ssize(returned.centroids) / dataset.features();
  const ResultErrors errors(backend, dataset, returned);
  require_labels_in_range(errors, returned.labels, clusters);
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
  const double least = (1 - kInertiaTolerance) * evaluation.inertia();
  const bool agrees = returned.inertia >= least;  // false for NaN
  if (!agrees) errors.throw_inertia_below(check.samples, evaluation.inertia());
  const bool exact = backend.accuracy(dataset.dtype()) == Accuracy::exact;
  if (exact && check.labels.wrong > 0) errors.throw_label_not_nearest(check.labels);
  return check;
}

}  // namespace lloyd
