// Clusters standardized features. The model labels samples in their own units.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <lloyd/kmeans.hpp>
#include <lloyd/standardize.hpp>

lloyd::Fit fit_standardized(const lloyd::Dataset& points, std::int64_t k) {
  lloyd::Fit fit = lloyd::kmeans(lloyd::standardize(points), k, {.fit = {.restarts = 5}});
  fit.standardization = lloyd::Standardization::of(points.statistics());
  return fit;  // predict() takes samples in the units of `points`; save() writes the map
}

int main() {
  // Height in metres and yearly income: without standardization, only the income would count.
  const std::vector<double> values = {1.60, 30000, 1.61, 32000, 1.62, 31000,
                                      1.90, 30000, 1.91, 32000, 1.92, 31000};
  const lloyd::Dataset people("people", lloyd::Matrix::view(values.data(), 6, 2));
  const lloyd::Fit fit = fit_standardized(people, 2);
  const std::vector<double> tall = {1.88, 30000};
  const auto label = static_cast<std::size_t>(fit.predict(tall.data(), 1)[0]);
  const double height = fit.centroids_in_data_units()[2 * label];
  std::printf("a person of 1.88 m is in the cluster with a mean height of %.2f m\n", height);
}
