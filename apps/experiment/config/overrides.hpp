// Overrides: keys of an experiment that the command line sets, to cut a long one or to vary it.
#pragma once

#include <string>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// Applies "KEY=VALUE" to a document: KEY is a key of a setting, with dots, or `backends` or
/// `baseline`, and VALUE is YAML. An axis of that key is replaced by the value, or by the list of
/// values; any other key is set. Throws InputError "--set KEY:line:column: ..." for a text of
/// another form, a key that cannot be set and one that an axis would overwrite.
void apply_override(ConfigNode& document, const std::string& text);

}  // namespace lloyd::experiment
