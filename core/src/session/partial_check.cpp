#include "session/partial_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <lloyd/internal/format_count.hpp>
#include <lloyd/plugin/abi/status.hpp>

namespace lloyd {
namespace {

// Tolerance of compensated sums, relative to the largest sum that the samples can have; far above
// rounding errors.
constexpr double kSumTolerance = 1e-9;

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw StatusError(StatusCode::internal,
                    "a partial pass: " + fmt::format(text, std::forward<Args>(args)...));
}

// The value of a sum in the unit of the data.
double value_of(const SumPlan& plan, const SumWords& words, std::size_t feature) {
  if (!plan.is_integer()) {
    return std::bit_cast<double>(words.low) + std::bit_cast<double>(words.high);
  }
  const Int128 total = static_cast<Int128>(words.high) << 64 | words.low;
  return to_double(total) *
         plan.quanta[feature];  // a power of two: rounded only if the result is subnormal
}

double largest_of(const FeatureStatistics& feature) {
  return std::max(std::abs(feature.minimum), std::abs(feature.maximum));
}

}  // namespace

PartialCheck::PartialCheck(const PartialRequest& request, const PartialResult& given)
    : request_(request), labels_(given.labels), counts_(given.counts) {
  if (labels_ != nullptr) former_labels_.assign(labels_, labels_ + request.rows.size());
  if (counts_ != nullptr) former_counts_.assign(counts_, counts_ + request.clusters);
}

void PartialCheck::check(const PartialResult& returned) const {
  const std::int64_t rows = request_.rows.size();
  if (returned.changed < 0 || returned.changed > rows) {
    fail("it reports {} changed labels, where 0 to {} are possible", returned.changed, rows);
  }
  if (labels_ != nullptr) check_labels(returned);
  if (returned.farthest_count < 0 || returned.farthest_count > request_.farthest_wanted) {
    fail("it reports {} far samples, where 0 to {} are possible", returned.farthest_count,
         request_.farthest_wanted);
  }
  check_farthest(returned);
}

void PartialCheck::check_labels(const PartialResult& returned) const {
  const std::int64_t k = request_.clusters;
  std::vector<std::int64_t> found(static_cast<std::size_t>(k));
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < former_labels_.size(); ++i) {
    const std::int32_t label = labels_[i];
    if (label < 0 || label >= k)
      fail("the label of sample {} is {}, with {}", i, label, format_count(k, "cluster"));
    ++found[static_cast<std::size_t>(label)];
    changed += label != former_labels_[i];
  }
  if (returned.changed != changed) {
    fail("it reports {} changed labels, but {} differ", returned.changed, changed);
  }
  for (std::size_t c = 0; c < former_counts_.size(); ++c) {
    std::int64_t count = 0;
    if (!__builtin_sub_overflow(counts_[c], former_counts_[c], &count) && count == found[c])
      continue;
    fail("the count of cluster {} is {}, but {} samples have its label", c, count, found[c]);
  }
}

void PartialCheck::check_farthest(const PartialResult& returned) const {
  for (std::int64_t i = 0; i < returned.farthest_count; ++i) {
    const FarSample& sample = returned.farthest[i];
    if (sample.row < 0 || sample.row >= request_.rows.size() || sample.label < 0 ||
        sample.label >= request_.clusters) {
      fail("a far sample has row {} of {} and label {} of {}", sample.row, request_.rows.size(),
           sample.label, request_.clusters);
    }
    if (!(sample.squared_distance > 0) || !std::isfinite(sample.squared_distance)) {
      fail("the far sample {} has a squared distance of {}", sample.row, sample.squared_distance);
    }
    if (labels_ != nullptr && labels_[sample.row] != sample.label) {
      fail("the far sample {} has label {}, but its label is {}", sample.row, sample.label,
           labels_[sample.row]);
    }
    if (i == 0) continue;
    const FarSample& before = returned.farthest[i - 1];
    const bool sorted =
        before.squared_distance > sample.squared_distance ||
        (before.squared_distance == sample.squared_distance && before.row < sample.row);
    if (!sorted) fail("its far samples are not by descending distance, then row");
  }
}

void check_means(const SumPlan& plan, const FeatureStatistics* statistics,
                 const std::vector<SumWords>& sums, const std::vector<std::int64_t>& counts) {
  const auto d = static_cast<std::size_t>(plan.features);
  std::vector<double> least(d), greatest(d);  // mean of each feature
  for (std::size_t j = 0; j < d; ++j) {
    const double slack = kSumTolerance * largest_of(statistics[j]);
    least[j] = statistics[j].minimum - slack;
    greatest[j] = statistics[j].maximum + slack;
  }
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const auto count = static_cast<double>(counts[c]);
    for (std::size_t j = 0; j < d; ++j) {
      const double sum = value_of(plan, sums[c * d + j], j);
      if (sum >= count * least[j] && sum <= count * greatest[j]) continue;
      fail("the sum of cluster {}, feature {} is {}, where {} of {} to {} sum up", c, j, sum,
           format_count(counts[c], "sample"), statistics[j].minimum, statistics[j].maximum);
    }
  }
}

void check_sums(const SumPlan& plan, const FeatureStatistics* statistics,
                const std::vector<SumWords>& sums, ClusterSums& expected) {
  const auto d = static_cast<std::size_t>(plan.features);
  std::vector<SumWords> words(sums.size());
  expected.store(words.data(), nullptr);
  for (std::size_t at = 0; at < sums.size(); ++at) {
    if (sums[at].low == words[at].low && sums[at].high == words[at].high) continue;
    const std::size_t j = at % d;
    const double sum = value_of(plan, sums[at], j);
    const double right = value_of(plan, words[at], j);
    const auto count = static_cast<double>(expected.count(static_cast<std::int64_t>(at / d)));
    const double slack = kSumTolerance * count * largest_of(statistics[j]);
    if (!plan.is_integer() && std::abs(sum - right) <= slack) continue;
    fail("the sum of cluster {}, feature {} is {}, but its samples sum up to {}", at / d, j, sum,
         right);
  }
}

}  // namespace lloyd
