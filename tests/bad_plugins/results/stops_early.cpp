// A loop of its own that ends after two iterations and states that no label changed. Labels, counts
// and inertia belong to the centroids.
#include <algorithm>
#include <cstdint>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  lloyd::FitSpec early = spec;
  early.max_iterations = std::min<std::int64_t>(spec.max_iterations, 2);
  const lloyd::Status status = honest.fit(early, observer, result);
  if (spec.max_iterations > 2 && result.stop_reason == lloyd::StopReason::max_iterations) {
    result.stop_reason = lloyd::StopReason::labels;
  }
  return status;
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
