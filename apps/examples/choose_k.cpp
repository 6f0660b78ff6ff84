// Chooses the number of clusters by the criterion of Calinski and Harabasz. All fits share one
// session, so the samples are validated and handed to the backend once.
#include <cstdio>

#include <lloyd/data/blobs.hpp>
#include <lloyd/kmeans.hpp>

// The variance between clusters divided by that within, per degree of freedom. Source: T. Calinski
// and J. Harabasz, "A dendrite method for cluster analysis", Communications in Statistics 3, 1974.
// lloyd::cluster_criteria() computes this and other criteria from samples and labels.
double criterion(const lloyd::Dataset& points, const lloyd::Fit& fit) {
  const auto n = static_cast<double>(points.samples());
  const auto k = static_cast<double>(fit.clusters);
  const double total = n * static_cast<double>(points.features()) * points.mean_variance();
  return (total - fit.inertia) / (k - 1) / (fit.inertia / (n - k));
}

std::int64_t choose_k(const lloyd::Dataset& points, std::int64_t max_k) {
  lloyd::BackendSession session(lloyd::load_backend(), points);
  std::int64_t best_k = 0;
  double best = 0;
  for (std::int64_t k = 2; k <= max_k; ++k) {
    const lloyd::Fit fit = lloyd::fit(session, {.clusters = k, .restarts = 5});
    const double value = criterion(points, fit);
    std::printf("k %2d: inertia %8.0f, criterion %6.0f\n", static_cast<int>(k), fit.inertia, value);
    if (value > best) {
      best = value;
      best_k = k;
    }
  }
  return best_k;
}

int main() {
  const lloyd::Dataset points =
      lloyd::make_blobs({.samples = 5000, .features = 8, .centers = 6, .std = 1});
  std::printf("the best k is %d\n", static_cast<int>(choose_k(points, 12)));
}
