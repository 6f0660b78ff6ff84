#include <lloyd/internal/format_count.hpp>
#include <lloyd/model.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>

#include "dataset/check_shape.hpp"
#include "model/require_centroids.hpp"

namespace lloyd {

namespace {

bool is_finite(double value) {
  return std::isfinite(value);
}

// Throws for values that no fit gives, and that load() refuses.
void check_values(const Model& model, const char* action) {
  const auto fail = [action](const std::string& reason) {
    throw InputError(fmt::format("the model cannot {}: {}", action, reason));
  };
  if (!std::all_of(model.centroids.begin(), model.centroids.end(), is_finite)) {
    fail("its centroids are not all finite");
  }
  if (!model.feature_names.empty() && std::ssize(model.feature_names) != model.features) {
    fail(fmt::format("it has {}, but {}", format_count(model.feature_names.size(), "feature name"),
                     format_count(model.features, "feature")));
  }
  if (!model.standardization) return;
  const auto& [mean, deviation] = *model.standardization;
  if (std::ssize(mean) != model.features || std::ssize(deviation) != model.features ||
      !std::all_of(mean.begin(), mean.end(), is_finite) ||
      !std::all_of(deviation.begin(), deviation.end(),
                   [](double value) { return std::isfinite(value) && value > 0; })) {
    fail(fmt::format("its standardization must have {} and {} above 0",
                     format_count(model.features, "finite mean"),
                     format_count(model.features, "deviation")));
  }
}

}  // namespace

std::vector<double> Model::centroids_in_data_units() const {
  if (!standardization || centroids.empty()) return centroids;
  if (std::ssize(standardization->mean) != features) {
    throw InputError(fmt::format(
        "the model cannot return centroids in data units: its standardization has {} for {}",
        format_count(standardization->mean.size(), "mean"), format_count(features, "feature")));
  }
  return standardization->undo(centroids);
}

void require_centroids(const Model& model, const char* action) {
  std::int64_t values = 0;
  if (model.clusters >= 1 && model.features >= 1 &&
      !__builtin_mul_overflow(model.clusters, model.features, &values) &&
      std::ssize(model.centroids) == values) {
    return check_values(model, action);
  }
  throw InputError(
      model.centroids.empty()
          ? fmt::format("the model has no centroids, so it cannot {}: it is empty, or the fit was "
                        "cancelled before it had any",
                        action)
          : fmt::format("the model cannot {}: it has {} of centroids, but {} of {}", action,
                        format_count(model.centroids.size(), "value"),
                        format_count(model.clusters, "cluster"),
                        format_count(model.features, "feature")));
}

std::vector<std::int32_t> Model::predict(const float* values, std::int64_t n,
                                         const BackendChoice& choice) const {
  require_centroids(*this, "label samples");
  check_pointer("values", values, n, features);
  return predict(Matrix::view(values, n, features), choice);
}

std::vector<std::int32_t> Model::predict(const double* values, std::int64_t n,
                                         const BackendChoice& choice) const {
  require_centroids(*this, "label samples");
  check_pointer("values", values, n, features);
  return predict(Matrix::view(values, n, features), choice);
}

std::vector<std::int32_t> Model::predict(const Matrix& matrix, const BackendChoice& choice) const {
  require_centroids(*this, "label samples");
  if (matrix.columns != features) {
    throw InputError(fmt::format("the samples have {}, but the model has {}",
                                 format_count(matrix.columns, "feature"), features));
  }
  const Dataset dataset = standardization
                              ? Dataset("the data", standardize(matrix, *standardization))
                              : Dataset("the data", matrix);
  const auto loaded = load_backend(choice);
  BackendSession session(loaded, dataset, parameters_of(*loaded, choice));
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  const LabelResult result = session.label(centroids, clusters, labels, counts);
  session.check(centroids, labels, result.inertia);
  return labels;
}

}  // namespace lloyd
