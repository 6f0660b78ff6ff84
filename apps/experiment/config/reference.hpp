// References: published tables of numbers, attached to settings and backends of an experiment.
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

/// Finds what is published of a setting without a look at every value of every reference.
class ReferenceIndex {
 public:
  explicit ReferenceIndex(const std::vector<Reference>& references);

  /// What is published of one setting with one variant. A speedup that is of no backend is of all
  /// but the baseline. Throws InputError where one quantity has two values.
  std::vector<Published> published_of(const Setting& setting, const Variant& variant,
                                      bool is_baseline) const;

 private:
  /// The entries of one reference that name the same axes, by their values on these.
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
