#include "conformance/support/checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/support/comparisons.hpp"
#include "conformance/support/verified_fits.hpp"

namespace lloyd::conformance {
namespace {

// The largest excess of a squared distance that still counts as nearest.
double label_tolerance(const Context& context, const Samples& samples) {
  if (context.exact()) return 0;
  double diagonal = 0;
  for (std::int64_t j = 0; j < samples.d; ++j) {
    double low = samples.values[j];
    double high = low;
    for (std::int64_t i = 0; i < samples.n; ++i) {
      low = std::min(low, samples.row(i)[j]);
      high = std::max(high, samples.row(i)[j]);
    }
    diagonal += (high - low) * (high - low);
  }
  const double unit = context.accuracy() == Accuracy::float32 ? 0x1p-22 : 0x1p-9;
  return static_cast<double>(samples.d + 8) * unit * diagonal;
}

// The unit in the last place of |x| in a data type.
double unit_in_last_place(double x, DType dtype) {
  const int digits = dtype == DType::float32 ? 24 : 53;
  const int lowest = dtype == DType::float32 ? -149 : -1074;
  return std::ldexp(1.0, std::max(std::ilogb(x) - (digits - 1), lowest));
}

}  // namespace

void check_labels(const Context& context, const std::string& where, const Samples& samples,
                  const std::vector<double>& centroids, const std::vector<std::int32_t>& labels) {
  const auto k = static_cast<std::int64_t>(centroids.size()) / samples.d;
  const double tolerance = label_tolerance(context, samples);
  for (std::int64_t i = 0; i < samples.n; ++i) {
    const std::int32_t label = labels[i];
    expect(label >= 0 && label < k, "{}: row {} has label {}, which is not in [0, {})", where, i,
           label, k);
    const std::int32_t nearest = reference::nearest(samples.row(i), centroids, samples.d);
    if (label == nearest) continue;
    const double* x = samples.row(i);
    const double* c = centroids.data();
    const double got = reference::squared_distance(x, c + label * samples.d, samples.d);
    const double least = reference::squared_distance(x, c + nearest * samples.d, samples.d);
    expect(!context.exact() && got - least <= tolerance,
           "{}: row {} has label {} at squared distance {}; the definition gives {} at {} "
           "(allowed excess {})",
           where, i, label, got, nearest, least, tolerance);
  }
}

void check_means(const std::string& where, const Samples& samples, DType dtype,
                 const std::vector<std::int32_t>& members, const std::vector<double>& centroids) {
  const std::int64_t d = samples.d;
  const auto k = static_cast<std::int64_t>(centroids.size()) / d;
  const std::vector<std::vector<std::int64_t>> rows = reference::rows_by_cluster(members, k);
  for (std::int64_t at = 0; at < k * d; ++at) {
    if (rows[at / d].empty()) continue;
    reference::FullSum sum;
    double largest = 0;
    for (const std::int64_t i : rows[at / d]) {
      const double value = samples.row(i)[at % d];
      sum.add(value);
      largest = std::max(largest, std::abs(value));
    }
    const auto count = static_cast<double>(rows[at / d].size());
    const double mean = sum.value() / count;
    // sum - count * centroid, computed exactly and rounded once.
    const double product = centroids[at] * count;
    sum.add(-product);
    sum.add(-std::fma(centroids[at], count, -product));
    const double error = std::abs(sum.value()) / count;
    const double allowed = largest > 0 ? 2 * unit_in_last_place(largest, dtype) : 0;
    expect(error <= allowed,
           "{}: cluster {} feature {}: the centroid is {}, the mean of its {} samples {}; the "
           "error {} exceeds 2 units in the last place of the largest value {} ({})",
           where, at / d, at % d, centroids[at], count, mean, error, largest, allowed);
  }
}

void check_inertia(const std::string& where, const Samples& samples,
                   const std::vector<double>& centroids, const std::vector<std::int32_t>& labels,
                   double inertia) {
  const double expected = reference::inertia(samples, centroids, labels);
  expect(std::abs(inertia - expected) <= 1e-12 * expected,
         "{}: inertia is {}; that of the labels and centroids is {}", where, inertia, expected);
}

void check_counts(const std::string& where, const std::vector<std::int32_t>& labels,
                  const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> expected(counts.size(), 0);
  for (const std::int32_t label : labels) ++expected[label];
  for (std::size_t c = 0; c < counts.size(); ++c) {
    expect(counts[c] == expected[c], "{}: cluster {} has count {}, but {} samples carry its label",
           where, c, counts[c], expected[c]);
  }
}

void check_closing(const Context& context, const std::string& where, const Samples& samples,
                   const Trial& trial) {
  const std::uint32_t wanted = kValidCentroids | kValidLabels | kValidCounts | kValidInertia;
  expect(trial.result.valid == wanted, "{}: valid is {:#x}, expected {:#x}", where,
         trial.result.valid, wanted);
  const std::string closing = where + ", closing assignment";
  check_labels(context, closing, samples, trial.centroids, trial.labels);
  check_counts(closing, trial.labels, trial.counts);
  check_inertia(closing, samples, trial.centroids, trial.labels, trial.result.inertia);
}

std::string describe(const char* name, const Samples& samples, const Setting& setting) {
  return fmt::format("'{}' n={} d={} k={}", name, samples.n, samples.d, setting.clusters);
}

bool verify_fit(const Context& context, const char* name, const Samples& samples,
                const Setting& wanted, Layout layout, Trial* out) {
  Setting setting = wanted;
  const std::string where = describe(name, samples, setting);
  const Dataset dataset = make_dataset(samples, context.dtype(), layout);
  if (!adapt_to_backend(context, dataset, setting)) return false;
  const OwnedSession session = context.open(dataset, make_spec(setting));
  Trial trial = run_fit(*session, samples, setting);
  expect(trial.status.ok(), "{}: fit() failed with status '{}': {}", where,
         name_of(trial.status.code), status_message(trial.status));
  check_times(where, trial);
  if (!is_verified(context, samples, setting, trial)) {
    check_trace(context, where, samples, setting, trial);
    check_stop(where, setting, trial);
    check_closing(context, where, samples, trial);
    if (context.canonical() && trial.result.sum_form != SumForm::compensated) {
      expect_reference_bits(where, samples, setting, trial);
    }
    remember_verified(context, samples, setting, trial);
  }
  if (out != nullptr) *out = std::move(trial);
  return true;
}

void verify_fits(const Context& context, const std::vector<NamedFit>& fits) {
  bool any = false;
  for (const NamedFit& fit : fits) {
    any |= verify_fit(context, fit.name, fit.samples, fit.setting);
  }
  if (!any) throw CaseSkipped{"all fits of the case are beyond the backend: " + context.refusal()};
}

}  // namespace lloyd::conformance
