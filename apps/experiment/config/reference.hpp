// References: tables of published numbers, attached to settings and backends of an experiment.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "experiment/config/backend_requests.hpp"
#include "experiment/config/published.hpp"
#include "experiment/config/setting.hpp"
#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

struct Variant;

/// One published value. It applies to the settings that have these values on these axes.
struct ReferenceEntry {
  std::vector<AxisValue> axes;
  Published published;
  Place place;
};

/// A table of published values and the backend to which it applies.
struct Reference {
  std::optional<BackendRequest> backend;  ///< applies to the variants of this backend; none: to all
  std::vector<ReferenceEntry> entries;
};

/// The parts of an experiment that a reference may name.
struct ReferenceScope {
  const std::vector<ConfigNode>& axes;
  const std::vector<BackendRequest>& backends;
  bool baseline = false;  ///< a baseline exists, so speedups are shown
  bool profile = false;   ///< at least one setting measures phases
};

/// Reads the key `reference`: a map, or a list of maps. Throws InputError for a reference without a
/// source, an axis or value that is not in the sweep, a backend or parameter that the experiment
/// does not name, and a quantity that the summary will not show.
std::vector<Reference> read_references(const ConfigNode& node, const ReferenceScope& scope);

/// Index of the published values by axis values, so that a lookup need not scan all references.
class ReferenceIndex {
 public:
  explicit ReferenceIndex(const std::vector<Reference>& references);

  /// Returns the published values of one setting with one variant. A speedup without a backend
  /// applies to all variants but the baseline. Throws InputError if a quantity has two values.
  std::vector<Published> published_of(const Setting& setting, const Variant& variant,
                                      bool is_baseline) const;

 private:
  /// The entries of one reference that name the same axes, indexed by their values on these axes.
  struct Entries {
    std::vector<std::string> paths;
    std::unordered_map<std::string, std::vector<const ReferenceEntry*>> by_values;
  };
  struct Indexed {
    const Reference* reference;
    std::vector<Entries> groups;
  };
  std::vector<Indexed> references_;
};

}  // namespace lloyd::experiment
