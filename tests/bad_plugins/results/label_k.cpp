// Reports the label k, one past the last cluster.
#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  const lloyd::Status status = honest.fit(spec, observer, result);
  if (result.labels != nullptr) *result.labels = static_cast<std::int32_t>(spec.clusters);
  return status;
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
