#include <lloyd/model.hpp>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>

#include "model/require_centroids.hpp"

namespace lloyd {

std::vector<double> Model::centroids_in_data_units() const {
  return standardization ? standardization->undo(centroids) : centroids;
}

void require_centroids(const Model& model, const char* action) {
  if (model.clusters >= 1 && model.features >= 1 &&
      std::ssize(model.centroids) == model.clusters * model.features) {
    return;
  }
  throw InputError(
      model.centroids.empty()
          ? fmt::format("the model has no centroids, so it cannot {}: the fit was cancelled before "
                        "it had any",
                        action)
          : fmt::format("the model cannot {}: it has {} values of centroids, but {} clusters of {} "
                        "features",
                        action, model.centroids.size(), model.clusters, model.features));
}

std::vector<std::int32_t> Model::predict(const float* values, std::int64_t n,
                                         const BackendChoice& choice) const {
  require_centroids(*this, "label samples");
  return predict(Matrix::view(values, n, features), choice);
}

std::vector<std::int32_t> Model::predict(const double* values, std::int64_t n,
                                         const BackendChoice& choice) const {
  require_centroids(*this, "label samples");
  return predict(Matrix::view(values, n, features), choice);
}

std::vector<std::int32_t> Model::predict(const Matrix& matrix, const BackendChoice& choice) const {
  require_centroids(*this, "label samples");
  if (matrix.columns != features) {
    throw InputError(fmt::format("the samples have {} features, but the model has {}",
                                 matrix.columns, features));
  }
  const Dataset dataset = standardization
                              ? Dataset("the samples", standardize(matrix, *standardization))
                              : Dataset("the samples", matrix);
  const auto loaded = load_backend(choice);
  BackendSession session(loaded, dataset, parameters_of(*loaded, choice));
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  const LabelResult result = session.label(centroids, clusters, labels, counts);
  session.check(centroids, labels, result.inertia);
  return labels;
}

}  // namespace lloyd
