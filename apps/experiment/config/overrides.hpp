// Overrides: keys of an experiment that the command line sets, to shorten or vary it.
#pragma once

#include <string>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// Applies "KEY=VALUE" to a document. KEY is a dotted key of a setting, or `backends` or
/// `baseline`; VALUE is YAML. If KEY is an axis, VALUE (one value or a list) replaces its values;
/// any other key is set. Throws InputError "--set KEY:line:column: ..." for a text of another form,
/// a key that cannot be set, and a key that an axis would overwrite.
void apply_override(ConfigNode& document, const std::string& text);

}  // namespace lloyd::experiment
