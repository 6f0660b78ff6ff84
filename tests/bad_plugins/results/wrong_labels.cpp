// Swaps the labels of two samples of different clusters, so that the counts stay right.
#include <algorithm>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  const lloyd::Status status = honest.fit(spec, observer, result);
  if (result.labels == nullptr || result.counts == nullptr) return status;
  std::int64_t samples = 0;
  for (std::int64_t c = 0; c < spec.clusters; ++c) samples += result.counts[c];
  std::int32_t* const end = result.labels + samples;
  std::int32_t* const other =
      std::find_if(result.labels, end, [&](std::int32_t label) { return label != *result.labels; });
  if (other != end) std::swap(*other, *result.labels);
  return status;
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
