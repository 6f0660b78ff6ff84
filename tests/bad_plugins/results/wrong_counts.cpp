// Counts one sample too many in the first cluster.
#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  const lloyd::Status status = honest.fit(spec, observer, result);
  if (result.counts != nullptr) ++*result.counts;
  return status;
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
