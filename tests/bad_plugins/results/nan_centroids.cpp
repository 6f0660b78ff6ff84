// A coordinate of the first centroid is NaN.
#include <limits>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  const lloyd::Status status = honest.fit(spec, observer, result);
  if (result.centroids != nullptr) *result.centroids = std::numeric_limits<double>::quiet_NaN();
  return status;
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
