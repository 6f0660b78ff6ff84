// A program that links the core: clusters four points with the backend named by its argument.
#include <cstdio>
#include <vector>

#include <lloyd/fit.hpp>

int main(int, char** arguments) {
  lloyd::Registry registry(lloyd::Registry::default_folders({PLUGIN_DIR}));
  const auto backend = registry.load(arguments[1]);
  const std::vector<float> values = {0, 0, 0, 2, 9, 0, 9, 2};
  const lloyd::Dataset points("points", lloyd::Matrix::from_values(values, 4, 2));
  lloyd::BackendSession session(backend, points, backend->default_parameters());
  lloyd::FitOptions options;
  options.clusters = 2;
  const lloyd::Fit fit = lloyd::fit(session, options);
  std::printf("%s inertia %g centroids %g,%g %g,%g\n", backend->name().c_str(), fit.result.inertia,
              fit.centroids[0], fit.centroids[1], fit.centroids[2], fit.centroids[3]);
}
