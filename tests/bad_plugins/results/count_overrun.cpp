// Writes one count more than there are clusters.
#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  const lloyd::Status status = honest.fit(spec, observer, result);
  if (result.counts != nullptr) result.counts[spec.clusters] = 0;
  return status;
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
