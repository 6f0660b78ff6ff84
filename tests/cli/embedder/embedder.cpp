// A program that links the core: clusters four points with the backend named by its argument.
#include <cstdio>
#include <vector>

#include <lloyd/kmeans.hpp>

int main(int, char** arguments) {
  const std::vector<float> values = {0, 0, 0, 2, 9, 0, 9, 2};
  const lloyd::Fit fit = lloyd::kmeans(values.data(), 4, 2, 2, {.backend = {arguments[1]}});
  std::printf("%s inertia %g centroids %g,%g %g,%g\n", fit.backend.c_str(), fit.inertia,
              fit.centroids[0], fit.centroids[1], fit.centroids[2], fit.centroids[3]);
}
