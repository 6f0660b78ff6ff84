#include "fit/defined_result.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <lloyd/error.hpp>
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

}  // namespace

ResultCheck check_by_definition(const LoadedBackend& backend, const Dataset& dataset,
                                const ReturnedLabels& returned,
                                const BlockVisitor& for_each_block) {
  const FloatEnvironment environment;
  const Clock::time_point start = Clock::now();
  const std::int64_t clusters = std::ssize(returned.centroids) / dataset.features();
  for (std::size_t i = 0; i < returned.labels.size(); ++i) {
    if (returned.labels[i] >= 0 && returned.labels[i] < clusters) continue;
    fail(backend, fmt::format("the label of sample {} is {}, with {} clusters", i,
                              returned.labels[i], clusters));
  }
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
  ResultCheck check;
  check.samples = evaluation.check().samples;
  check.labels = evaluation.check();
  check.inertia = evaluation.inertia();
  check.ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (std::abs(returned.inertia - check.inertia) > kInertiaTolerance * check.inertia) {
    fail(backend, fmt::format("it reports an inertia of {}, but its labels and centroids have {}",
                              returned.inertia, check.inertia));
  }
  if (check.labels.wrong > 0 && backend.accuracy(dataset.dtype()) == Accuracy::exact) {
    const auto row = static_cast<std::size_t>(check.labels.first_wrong);
    fail(backend, fmt::format("it states exact labels, but that of sample {} is {}, which is not "
                              "the nearest centroid; of {} labels that were compared {} are wrong",
                              row, returned.labels[row], check.samples, check.labels.wrong));
  }
  return check;
}

}  // namespace lloyd
