// Overrides: keys of an experiment that the command line sets, to shorten or vary it.
#pragma once

#include <string>
#include <vector>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// Keys that the command line sets: texts of the form "KEY=VALUE", VALUE in YAML.
struct Overrides {
  std::vector<std::string> set;    ///< of --set
  std::vector<std::string> sweep;  ///< of --sweep; applied after those of --set

  bool empty() const { return set.empty() && sweep.empty(); }
};

/// Applies overrides to a document.
/// --set: KEY is a dotted key of a setting, or a key of the experiment that can be overridden, such
/// as `backends`. If KEY is an axis, VALUE (one value or a list) replaces its values. A list for
/// another key of a setting makes that key an axis, except for `dataset.columns` and
/// `dataset.drop_columns` and `dataset.missing`, whose values are lists. Otherwise the key is set.
/// --sweep: KEY, a dotted key of a setting, becomes an axis with the values of the list VALUE,
/// below the other axes; the values of an existing axis are replaced.
/// Throws InputError "--set KEY:line:column: ..." (or --sweep) for a text of another form, a key
/// that cannot be set, a key of --set that an axis or a later --set of a key above it would
/// overwrite (of several values for one key, the last counts), and a VALUE of --sweep that is not a
/// list.
void apply_overrides(ConfigNode& document, const Overrides& overrides);

}  // namespace lloyd::experiment
