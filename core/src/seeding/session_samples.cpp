#include "seeding/session_samples.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

#include "seeding/stop_observer.hpp"
#include "session/handed_values.hpp"

namespace lloyd {

void SessionSamples::copy_rows(std::span<const std::int64_t> indices, double* values) const {
  std::ranges::copy(dataset_.samples_of(indices), values);
}

double SessionSamples::fold_nearest(std::span<const double> centroids, std::int64_t first_index,
                                    double* squared_distances, std::int32_t* nearest) {
  const HandedValues handed(centroids);
  NearestRequest request;
  request.centroids = handed.data();
  request.count = static_cast<std::int64_t>(centroids.size()) / features();
  request.first_index = first_index;
  request.squared_distances = squared_distances;
  request.nearest = nearest;
  StopObserver observer(workers_.stop());
  observer.check(backend_, kernels_.nearest(request, &observer));
  handed.check(backend_, "centroids");
  return largest_of(squared_distances, nearest, first_index + request.count);
}

// Wrong distances would later lead to indices out of bounds.
double SessionSamples::largest_of(const double* squared_distances, const std::int32_t* nearest,
                                  std::int64_t centroids) const {
  constexpr std::int64_t kRange = 1 << 16;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::mutex mutex;
  double largest = 0;
  workers_.for_each_range(samples(), kRange, [&](std::int64_t begin, std::int64_t end) {
    double found = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const double distance = squared_distances[i];
      const std::int64_t index = nearest == nullptr ? 0 : nearest[i];
      if (!(distance >= 0 && distance < kInfinity) || index < 0 || index >= centroids) {
        throw BackendError(
            StatusCode::internal,
            fmt::format("{}: its seeding kernels gave sample {} a squared distance of {} to "
                        "centroid {} of {}",
                        backend_, i, distance, index, centroids));
      }
      found = std::max(found, distance);
    }
    const std::lock_guard lock(mutex);
    largest = std::max(largest, found);
  });
  return largest;
}

void SessionSamples::rate(std::span<const double> candidates, const double* squared_distances,
                          const WeightScale& scale, std::span<std::int64_t> gains) {
  const HandedValues handed(candidates);
  GainsRequest request;
  request.candidates = handed.data();
  request.count = static_cast<std::int64_t>(gains.size());
  request.squared_distances = squared_distances;
  request.scale = scale;
  request.gains = gains.data();
  StopObserver observer(workers_.stop());
  observer.check(backend_, kernels_.gains(request, &observer));
  handed.check(backend_, "candidates");
}

}  // namespace lloyd
