#include <lloyd/evaluation.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/sampled_rows.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "dataset/check_shape.hpp"
#include "dataset/row_range_of.hpp"
#include "evaluation/label_evaluation.hpp"
#include "parallel/range_workers.hpp"

namespace lloyd {
namespace {

// The number of centroids, after checking that the three sizes match.
std::int64_t checked_clusters(const Dataset& dataset, std::span<const double> centroids,
                              std::span<const std::int32_t> labels) {
  dataset.check_mapped_file();
  const std::int64_t d = dataset.features();
  require_host_memory(dataset, "evaluating labels");
  if (!dataset.in_memory()) {
    throw InputError(
        fmt::format("{} is not in memory, which evaluating labels requires", dataset.name()));
  }
  if (centroids.empty() || std::ssize(centroids) % d != 0) {
    throw InputError(fmt::format("{}: {} of centroids are not a whole number of rows of {}",
                                 dataset.name(), format_count(centroids.size(), "value"),
                                 format_count(d, "feature")));
  }
  if (std::ssize(labels) != dataset.samples()) {
    throw InputError(fmt::format("{}: there are {} labels for {}", dataset.name(), labels.size(),
                                 format_count(dataset.samples(), "sample")));
  }
  return std::ssize(centroids) / d;
}

using Clock = std::chrono::steady_clock;

// Number of labels whose comparison is timed to estimate the time for all.
constexpr std::int64_t kTimedLabels = 4096;

// Compares all labels or those of a sample of `wanted` rows, in parts after which `progress` is
// called if it is not empty. A part is large enough to occupy all threads.
void compare_labels(const Dataset& dataset, std::int64_t wanted, LabelEvaluation& evaluation,
                    const ProgressFunction& progress) {
  constexpr std::int64_t kMinPart = 16384;
  const std::int64_t n = dataset.samples();
  std::vector<std::int64_t> sample;
  if (wanted < n) sample = sampled_rows(n, wanted);
  const std::int64_t parts = progress ? std::clamp<std::int64_t>(wanted / kMinPart, 1, 100) : 1;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t begin = wanted / parts * part + wanted % parts * part / parts;
    const std::int64_t end = wanted / parts * (part + 1) + wanted % parts * (part + 1) / parts;
    if (begin == end) continue;
    if (wanted < n) {
      std::span<const std::int64_t> rows(sample.data() + begin,
                                         static_cast<std::size_t>(end - begin));
      evaluation.compare(0, dataset.matrix(), rows);
    } else {
      evaluation.compare(begin, row_range_of(dataset.matrix(), begin, end));
    }
    if (progress) progress(end, wanted);
  }
}

// Counts of ordered pairs reach n^2, and products of two of them exceed 64 bits.
__extension__ typedef unsigned __int128 PairCount;

// The sum over all keys of the squared number of occurrences.
template <class Counts>
PairCount sum_of_squares(const Counts& counts) {
  PairCount sum = 0;
  for (const auto& [key, count] : counts) sum += static_cast<PairCount>(count) * count;
  return sum;
}

}  // namespace

double inertia(const Dataset& dataset, std::span<const double> centroids,
               std::span<const std::int32_t> labels) {
  const FloatEnvironment environment;
  const std::int64_t clusters = checked_clusters(dataset, centroids, labels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0 && labels[i] < clusters) continue;
    throw InputError(fmt::format("{}: the label of row {} (counted from 0) is {}, not in 0 to {}",
                                 dataset.name(), i, labels[i], clusters - 1));
  }
  const RangeWorkers workers;
  LabelEvaluation evaluation(centroids, dataset.features(), labels, workers);
  evaluation.add_inertia(0, dataset.matrix());
  return evaluation.inertia();
}

LabelCheck check_labels(const Dataset& dataset, std::span<const double> centroids,
                        std::span<const std::int32_t> labels, const LabelCheckOptions& options) {
  const FloatEnvironment environment;
  checked_clusters(dataset, centroids, labels);
  const RangeWorkers workers(options.threads, options.stop);
  const auto compare = [&](std::int64_t wanted, const ProgressFunction& progress) {
    LabelEvaluation evaluation(centroids, dataset.features(), labels, workers);
    compare_labels(dataset, wanted, evaluation, progress);
    return evaluation.check();
  };

  std::int64_t wanted = dataset.samples();
  if (options.samples > 0) wanted = std::min(wanted, options.samples);
  if (options.seconds < std::numeric_limits<double>::infinity() && wanted > kTimedLabels) {
    const Clock::time_point start = Clock::now();
    compare(kTimedLabels, {});
    const std::chrono::duration<double> seconds = Clock::now() - start;
    const double affordable = options.seconds / seconds.count() * kTimedLabels;
    if (affordable < static_cast<double>(wanted)) {
      wanted = std::max(static_cast<std::int64_t>(affordable), kMinSampledLabels);
    }
  }
  return compare(wanted, options.progress);
}

double adjusted_rand_index(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  const FloatEnvironment environment;
  if (a.size() != b.size()) {
    throw InputError(
        fmt::format("labellings of {} and of {} samples cannot be compared", a.size(), b.size()));
  }
  std::unordered_map<std::int32_t, std::uint64_t> sizes_a;
  std::unordered_map<std::int32_t, std::uint64_t> sizes_b;
  std::unordered_map<std::uint64_t, std::uint64_t> sizes_both;
  PairCount n = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] < 0 || b[i] < 0) continue;
    ++n;
    ++sizes_a[a[i]];
    ++sizes_b[b[i]];
    ++sizes_both[static_cast<std::uint64_t>(static_cast<std::uint32_t>(a[i])) << 32 |
                 static_cast<std::uint32_t>(b[i])];
  }
  // Counts ordered pairs of different samples by whether they share a cluster in each labelling.
  const PairCount squares = sum_of_squares(sizes_both);
  const PairCount together = squares - n;
  const PairCount only_a = sum_of_squares(sizes_a) - squares;
  const PairCount only_b = sum_of_squares(sizes_b) - squares;
  const PairCount apart = n * n - squares - only_a - only_b;
  if (only_a == 0 && only_b == 0)
    return 1;  // equal partitions, including one cluster and n clusters
  const auto agreement = static_cast<double>(together * apart);
  const auto disagreement = static_cast<double>(only_a * only_b);
  const auto total = static_cast<double>((together + only_a) * (only_a + apart) +
                                         (together + only_b) * (only_b + apart));
  return 2 * (agreement - disagreement) / total;
}

bool has_several_classes(std::span<const std::int32_t> classes) {
  return std::any_of(classes.begin(), classes.end(),
                     [](std::int32_t number) { return number > 0; });
}

std::vector<std::int32_t> encode_classes(std::span<const std::string> classes) {
  std::unordered_map<std::string_view, std::int32_t> numbers;
  std::vector<std::int32_t> result;
  result.reserve(classes.size());
  for (const std::string& name : classes) {
    if (name.empty()) {
      result.push_back(-1);
      continue;
    }
    const auto next = static_cast<std::int32_t>(numbers.size());
    result.push_back(numbers.try_emplace(name, next).first->second);
  }
  return result;
}

}  // namespace lloyd
