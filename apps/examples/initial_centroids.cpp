// Clusters from initial centroids of one's own instead of seeding.
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include <lloyd/kmeans.hpp>

// `centroids`: k x d values, row-major, float64 for samples of any type.
lloyd::Fit fit_from_centroids(const lloyd::Dataset& points, std::vector<double> centroids) {
  const std::int64_t k = std::ssize(centroids) / points.features();
  lloyd::KMeansOptions options;
  options.fit.seeding.method = lloyd::SeedingMethod::file;  // use seeding.centroids
  options.fit.seeding.centroids = std::move(centroids);
  return lloyd::kmeans(points, k, options);
}

int main() {
  const std::vector<float> values = {1, 1, 1, 2, 8, 8, 8, 9};
  const lloyd::Dataset points("points", lloyd::Matrix::view(values.data(), 4, 2));
  const lloyd::Fit fit = fit_from_centroids(points, {9, 9, 0, 0});
  std::printf("the first point is in cluster %d, whose centroid is (%g, %g)\n", fit.labels[0],
              fit.centroids[2], fit.centroids[3]);
}
