#include "result_check.hpp"

#include <cmath>

#include <fmt/format.h>

#include <lloyd/error.hpp>

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
                         const std::vector<std::int64_t>& counts, std::int64_t clusters) const {
    std::vector<std::int64_t> found(static_cast<std::size_t>(clusters));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] < 0 || labels[i] >= clusters) {
        fail("the label of sample {} is {}, with {} clusters", i, labels[i], clusters);
      }
      ++found[static_cast<std::size_t>(labels[i])];
    }
    for (std::size_t c = 0; c < found.size(); ++c) {
      if (counts[c] == found[c]) continue;
      fail("the count of cluster {} is {}, but {} samples have its label", c, counts[c], found[c]);
    }
  }

  void inertia(double value) const {
    if (!std::isfinite(value) || value < 0) fail("the inertia is {}", value);
  }

  void centroids(const std::vector<double>& values, std::int64_t features) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      const auto d = static_cast<std::size_t>(features);
      fail("centroid {}, feature {} is {}", i / d, i % d, values[i]);
    }
  }

  // `most`: what the host's clock saw.
  void time(const char* what, double milliseconds, double most) const {
    if (milliseconds >= 0 && milliseconds <= 1.05 * most + 5) return;
    fail("{} is {} ms, while the call took {:.3f} ms", what, milliseconds, most);
  }

 private:
  const std::string& backend_;
};

}  // namespace

void check_result(const std::string& backend, const FitSpec& spec, Fit& fit) {
  const Check check(backend);
  const FitResult& result = fit.result;
  check.valid(result.valid, fit.cancelled
                                ? kValidCentroids
                                : kValidCentroids | kValidLabels | kValidCounts | kValidInertia);
  check.centroids(fit.centroids, fit.features);
  const std::int64_t fewest =
      fit.cancelled ? 0 : (spec.stop_rule == StopRule::fixed ? spec.max_iterations : 1);
  if (result.iterations < fewest || result.iterations > spec.max_iterations) {
    check.fail("it reports {} iterations, where {} to {} are possible", result.iterations, fewest,
               spec.max_iterations);
  }
  check.time("the loop's time", result.loop_ms, fit.fit_ms);
  check.time("the closing assignment's time", result.closing_ms, fit.fit_ms - result.loop_ms);
  constexpr std::uint32_t kLabelling = kValidLabels | kValidCounts | kValidInertia;
  if ((result.valid & kLabelling) != kLabelling) {
    fit.labels.clear();
    fit.counts.clear();
    fit.result.inertia = std::nan("");
    return;
  }
  if (!fit.cancelled && (result.stop_reason < StopReason::labels ||
                         result.stop_reason > StopReason::max_iterations)) {
    check.fail("its stop reason is {}", static_cast<int>(result.stop_reason));
  }
  check.labels_and_counts(fit.labels, fit.counts, fit.clusters);
  check.inertia(result.inertia);
}

void check_labelling(const std::string& backend, std::int64_t clusters,
                     const std::vector<std::int32_t>& labels,
                     const std::vector<std::int64_t>& counts, const LabelResult& result) {
  const Check check(backend);
  check.valid(result.valid, kValidLabels | kValidCounts | kValidInertia);
  check.labels_and_counts(labels, counts, clusters);
  check.inertia(result.inertia);
}

}  // namespace lloyd
