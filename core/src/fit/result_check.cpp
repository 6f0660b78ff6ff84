#include "fit/result_check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/uncounted_distances.hpp>

namespace lloyd {
namespace {

class Check {
 public:
  explicit Check(const std::string& backend) : backend_(backend) {}

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw BackendError(StatusCode::internal,
                       backend_ + ": " + fmt::format(text, std::forward<Args>(args)...));
  }

  void valid(std::uint32_t bits, std::uint32_t wanted) const {
    if ((bits & wanted) == wanted) return;
    fail("it ended without all of its results (valid bits 0x{:x}, expected 0x{:x})", bits, wanted);
  }

  void labels_and_counts(const std::vector<std::int32_t>& labels,
                         const std::vector<std::int64_t>& counts, std::int64_t clusters,
                         const std::vector<std::int64_t>& histogram) const {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] < 0 || labels[i] >= clusters) {
        fail("the label of sample {} is {}, with {}", i, labels[i],
             format_count(clusters, "cluster"));
      }
    }
    for (std::size_t c = 0; c < histogram.size(); ++c) {
      if (counts[c] == histogram[c]) continue;
      fail("the count of cluster {} is {}, but {} samples have its label", c, counts[c],
           histogram[c]);
    }
  }

  void inertia(double value) const {
    if (!std::isfinite(value) || value < 0) fail("the inertia is {}", value);
  }

  void stop_reason(const FitSpec& spec, const FitResult& result) const {
    switch (result.stop_reason) {
      case StopReason::max_iterations:
        if (result.iterations == spec.max_iterations) return;
        fail("it states that it stopped at the limit of {}, and reports {}",
             format_count(spec.max_iterations, "iteration"), result.iterations);
      case StopReason::tolerance:
        if (spec.stop_rule == StopRule::converge && spec.tolerance > 0) return;
        fail("it states that it stopped within the tolerance, and none was given");
      case StopReason::labels:
        if (spec.stop_rule == StopRule::converge) return;
        fail(
            "it states that it stopped because no label changed, where {} iterations were asked "
            "for",
            spec.max_iterations);
      default:
        fail("its stop reason is {}", static_cast<int>(result.stop_reason));
    }
  }

  // A centroid is a mean of samples, so it lies within their range, unless it kept its initial
  // value. Some programs also move the centroid of an empty cluster: FAISS by 1/1024 of its values.
  void within_data(const std::vector<double>& values, const std::vector<double>& initial,
                   std::span<const FeatureStatistics> statistics) const {
    constexpr double kRoom = 1.0 / 256;  // relative to the largest value
    const std::size_t d = statistics.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const FeatureStatistics& feature = statistics[i % d];
      const double room = kRoom * std::max(std::abs(feature.minimum), std::abs(feature.maximum));
      if (values[i] >= feature.minimum - room && values[i] <= feature.maximum + room) continue;
      if (values[i] == initial[i]) continue;
      fail("centroid {}, feature {} is {}, where samples reach from {} to {}", i / d, i % d,
           values[i], feature.minimum, feature.maximum);
    }
  }

  void centroids(const std::vector<double>& values, std::int64_t features) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      const auto d = static_cast<std::size_t>(features);
      fail("centroid {}, feature {} is {}", i / d, i % d, values[i]);
    }
  }

  // Fails unless 0 <= value <= most; `most` is more than a correct backend can count.
  void number(const char* what, std::int64_t value, double most) const {
    if (value >= 0 && static_cast<double>(value) <= most) return;
    fail("it reports {} {}, where 0 to {:.0f} are possible", value, what, most);
  }

  void counters(const FitResult& result, const Fit& fit) const {
    const auto n = static_cast<double>(fit.samples);
    const auto k = static_cast<double>(fit.clusters);
    const double passes = static_cast<double>(result.iterations) +
                          2;  // plus the closing assignment and a cancelled iteration
    number("relocations", result.relocations, k * passes);
    // Distances of samples and of centroids to all centroids, some of which are computed more than
    // once.
    if (result.distances != kUncountedDistances) {
      number("distances", result.distances, 4 * (n + k) * (k + 1) * passes);
    }
    // Negative: the backend does not screen.
    if (result.exact_fallbacks >= 0)
      number("exact fallbacks", result.exact_fallbacks, 4 * n * passes);
  }

  // Negative: not measured.
  void phases(const PhaseTimes& phases, double most) const {
    for (const auto& [what, milliseconds] :
         {std::pair{"the phase 'transfer'", phases.transfer_ms},
          std::pair{"the phase 'assignment'", phases.assignment_ms},
          std::pair{"the phase 'update'", phases.update_ms},
          std::pair{"the phase 'convergence'", phases.convergence_ms}}) {
      if (!(milliseconds < 0)) time(what, milliseconds, most);
    }
  }

  // `most` is the time that the host measured around the call.
  void time(const char* what, double milliseconds, double most) const {
    if (milliseconds >= 0 && milliseconds <= 1.05 * most + 5) return;
    fail("{} is {} ms, while the call took {:.3f} ms", what, milliseconds, most);
  }

 private:
  const std::string& backend_;
};

}  // namespace

std::vector<std::int64_t> label_histogram(const std::vector<std::int32_t>& labels,
                                          std::int64_t clusters) {
  std::vector<std::int64_t> histogram(static_cast<std::size_t>(clusters));
  for (const std::int32_t label : labels) {
    if (label >= 0 && label < clusters) ++histogram[static_cast<std::size_t>(label)];
  }
  return histogram;
}

std::vector<std::int64_t> label_histogram(const Ranks& ranks,
                                          const std::vector<std::int32_t>& labels,
                                          std::int64_t clusters) {
  std::vector<std::int64_t> histogram = label_histogram(labels, clusters);
  ranks.sum(histogram);
  return histogram;
}

void check_result(const std::string& backend, const FitSpec& spec,
                  const std::vector<double>& initial_centroids,
                  std::span<const FeatureStatistics> statistics,
                  const std::vector<std::int64_t>& histogram, Fit& fit) {
  const Check check(backend);
  const FitResult& result = fit.result;
  check.valid(result.valid, fit.cancelled
                                ? kValidCentroids
                                : kValidCentroids | kValidLabels | kValidCounts | kValidInertia);
  check.centroids(fit.centroids, fit.features);
  check.within_data(fit.centroids, initial_centroids, statistics);
  const std::int64_t fewest =
      fit.cancelled ? 0 : (spec.stop_rule == StopRule::fixed ? spec.max_iterations : 1);
  if (result.iterations < fewest || result.iterations > spec.max_iterations) {
    check.fail("it reports {}, where {} to {} are possible",
               format_count(result.iterations, "iteration"), fewest, spec.max_iterations);
  }
  // An iteration takes at least a nanosecond.
  if (static_cast<double>(result.iterations) > 1e6 * (fit.fit_ms + 1)) {
    check.fail("it reports {}, while the call took {:.3f} ms",
               format_count(result.iterations, "iteration"), fit.fit_ms);
  }
  check.time("the loop's time", result.loop_ms, fit.fit_ms);
  check.time("the closing assignment's time", result.closing_ms, fit.fit_ms - result.loop_ms);
  check.phases(result.phases, fit.fit_ms);
  check.counters(result, fit);
  if (result.sum_form < SumForm::integer64 || result.sum_form > SumForm::compensated) {
    check.fail("its form of sums is {}, where 0 to 2 are known", static_cast<int>(result.sum_form));
  }
  constexpr std::uint32_t kLabelling = kValidLabels | kValidCounts | kValidInertia;
  if ((result.valid & kLabelling) != kLabelling) {
    fit.labels.clear();
    fit.counts.clear();
    fit.result.inertia = std::nan("");
    return;
  }
  if (!fit.cancelled) check.stop_reason(spec, result);
  check.labels_and_counts(fit.labels, fit.counts, fit.clusters, histogram);
  check.inertia(result.inertia);
}

void check_counts(const std::string& backend, const std::vector<std::int64_t>& histogram,
                  const Fit& fit) {
  Check(backend).labels_and_counts(fit.labels, fit.counts, fit.clusters, histogram);
}

void check_labelling(const std::string& backend, std::int64_t clusters,
                     const std::vector<std::int32_t>& labels,
                     const std::vector<std::int64_t>& counts,
                     const std::vector<std::int64_t>& histogram,
                     const std::vector<double>* squared_distances, const LabelResult& result,
                     double call_ms) {
  const Check check(backend);
  check.valid(result.valid, kValidLabels | kValidCounts | kValidInertia);
  check.labels_and_counts(labels, counts, clusters, histogram);
  check.inertia(result.inertia);
  check.time("the labelling's time", result.label_ms, call_ms);
  if (squared_distances == nullptr) return;
  for (std::size_t i = 0; i < squared_distances->size(); ++i) {
    const double distance = (*squared_distances)[i];
    if (!std::isfinite(distance) || distance < 0) {
      check.fail("the squared distance of sample {} is {}", i, distance);
    }
  }
}

double shift_of_rounding(std::span<const FeatureStatistics> statistics, DType dtype,
                         std::int64_t clusters) {
  const double relative = dtype == DType::float32 ? 0x1p-12 : 0x1p-26;
  double sum = 0;
  for (const FeatureStatistics& feature : statistics) {
    const double move = relative * std::max(std::abs(feature.minimum), std::abs(feature.maximum));
    sum += move * move;
  }
  return static_cast<double>(clusters) * sum;
}

std::string record_fault(const ObservedFit& fit, const IterationRecord& record,
                         std::int64_t iteration, std::int64_t former_relocations, double call_ms) {
  const FitSpec& spec = fit.spec;
  const ProblemShape& shape = fit.shape;
  const auto fault = [&](const char* what, auto value) {
    return fmt::format("it tells an observer that iteration {} had {} {}", iteration, what, value);
  };
  if (spec.observe == 0) return {};  // nothing is observed
  if (record.iteration != iteration || iteration > spec.max_iterations) {
    return fault("the number", record.iteration);
  }
  if (record.changed < 0 || record.changed > fit.total_samples) {
    return fault("so many changed labels:", record.changed);
  }
  if (iteration == 1 && record.changed != fit.total_samples) {
    return fmt::format("it tells an observer that iteration 1 changed {}, where all {} are new",
                       format_count(record.changed, "label"), fit.total_samples);
  }
  if (record.relocations < 0 || record.relocations > shape.clusters) {
    return fault("so many relocations:", record.relocations);
  }
  if (!(record.shift >= 0) || !std::isfinite(record.shift))
    return fault("a shift of", record.shift);
  if (iteration > 1 && record.changed == 0 && record.relocations == 0 && former_relocations == 0 &&
      record.shift > fit.shift_of_rounding) {
    return fmt::format(
        "it tells an observer that iteration {} changed 0 labels, but moved the centroids (shift "
        "{}); the means of the same clusters are the same",
        iteration, record.shift);
  }
  if ((spec.observe & kObserveInertia) != 0 &&
      (!(record.inertia >= 0) || !std::isfinite(record.inertia))) {
    return fault("an inertia of", record.inertia);
  }
  if (!(record.elapsed_ms >= 0) || record.elapsed_ms > 1.05 * call_ms + 5) {
    return fault("ended after so many milliseconds:", record.elapsed_ms);
  }
  // Plugins of an earlier minor version may leave these out.
  if ((spec.observe & kObserveLabels) != 0 && record.labels != nullptr) {
    const auto outside = [&](std::int32_t label) { return label < 0 || label >= shape.clusters; };
    const std::int32_t* const end = record.labels + shape.samples;
    const std::int32_t* const found = std::find_if(record.labels, end, outside);
    if (found != end) return fault("the label", *found);
  }
  if ((spec.observe & kObserveCentroids) != 0 && record.centroids != nullptr) {
    const double* const end = record.centroids + shape.clusters * shape.features;
    const double* const found =
        std::find_if_not(record.centroids, end, [](double value) { return std::isfinite(value); });
    if (found != end) return fault("a centroid with the value", *found);
  }
  return {};
}

}  // namespace lloyd
