// require_centroids: refuses a model without centroids.
#pragma once

#include <lloyd/model.hpp>

namespace lloyd {

/// Throws InputError unless the model has k x d centroids. `action` completes "it cannot".
void require_centroids(const Model& model, const char* action);

}  // namespace lloyd
