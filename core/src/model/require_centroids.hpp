// require_centroids: refuses a model without valid centroids.
#pragma once

#include <lloyd/model.hpp>

namespace lloyd {

/// Throws InputError unless the model has k x d finite centroids, and names and a standardization
/// of d features, if any. `action` completes "it cannot".
void require_centroids(const Model& model, const char* action);

}  // namespace lloyd
