// References: published tables of numbers, attached to settings and backends of an experiment.
#pragma once

#include <optional>
#include <vector>

#include "experiment/backend_requests.hpp"
#include "experiment/config_node.hpp"
#include "experiment/published.hpp"
#include "experiment/setting.hpp"

namespace lloyd::experiment {

struct Variant;

/// One published value and the settings that it is of: those with these values on these axes.
struct ReferenceEntry {
  std::vector<AxisValue> axes;
  Published published;
  Place place;
};

struct Reference {
  std::optional<BackendRequest> backend;  ///< whose variants it is of; none: all
  std::vector<ReferenceEntry> entries;
};

/// What a reference may refer to.
struct ReferenceScope {
  const std::vector<ConfigNode>& axes;
  const std::vector<BackendRequest>& backends;
  bool baseline = false;  ///< there is one, so that there are speedups
  bool profile = false;   ///< phases are measured in some setting
};

/// Reads the key `reference`: a map, or a list of them. Throws InputError for one without a source,
/// an axis or a value that the sweep does not have, a backend or parameter that is not asked for,
/// and a quantity that the summary will not show.
std::vector<Reference> read_references(const ConfigNode& node, const ReferenceScope& scope);

/// What is published of one setting with one variant. A speedup that is of no backend is of all but
/// the baseline. Throws InputError where one quantity has two values.
std::vector<Published> published_of(const std::vector<Reference>& references,
                                    const Setting& setting, const Variant& variant,
                                    bool is_baseline);

}  // namespace lloyd::experiment
