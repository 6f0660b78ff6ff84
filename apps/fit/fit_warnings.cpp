#include "fit/fit_warnings.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "text/numbers.hpp"

namespace lloyd::apps {

std::vector<std::string> empty_cluster_warnings(const Dataset& dataset, const Fit& fit) {
  const auto empty = std::count(fit.counts.begin(), fit.counts.end(), 0);
  if (empty == 0) return {};
  const char* const verb = empty == 1 ? "is" : "are";
  // At inertia 0, unless squared distances may underflow, the samples of a cluster are equal, and
  // equal samples are in one cluster, since ties go to the lowest index. So each non-empty cluster
  // is one distinct sample.
  constexpr int kMinQuantumExponent = -500;
  const bool may_underflow = std::any_of(dataset.statistics().begin(), dataset.statistics().end(),
                                         [](const FeatureStatistics& feature) {
                                           return feature.quantum_exponent < kMinQuantumExponent;
                                         });
  if (fit.result.inertia == 0 && !may_underflow) {
    return {fmt::format("{} has only {}, so {} of the {} clusters {} empty", dataset.name(),
                        format_count(fit.clusters - empty, "distinct sample"), empty, fit.clusters,
                        verb)};
  }
  return {fmt::format("{} of the {} clusters {} empty", empty, fit.clusters, verb)};
}

std::vector<std::string> restart_warnings(const FitOptions& options, const std::string& restarts,
                                          const std::string& seeding) {
  if (restarts_to_run(options) == options.restarts) return {};
  return {
      fmt::format("{} is {}, but with {} every restart begins with the same centroids, so all "
                  "fits are the same",
                  restarts, options.restarts, seeding)};
}

std::vector<std::string> thread_warnings(const std::string& threads, int processors) {
  std::int64_t count = 0;
  std::from_chars(threads.data(), threads.data() + threads.size(), count);
  if (count <= processors) return {};
  return {fmt::format(
      "threads={} is more than the {} that this process may use, so threads wait for one another; "
      "-p threads={} gives each processor one",
      threads, format_count(processors, "processor"), processors)};
}

}  // namespace lloyd::apps
