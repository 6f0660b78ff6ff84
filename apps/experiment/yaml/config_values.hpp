// Typed values out of a ConfigNode, strictly: no conversion, no key passed over.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// Whether a value is a plain scalar without leading zeros, as all numbers are.
bool may_be_number(const ConfigNode& node);

// Each throws InputError at the value when it is of another type or out of range. `what` is the
// dotted path of the key, for messages.
std::int64_t read_integer(const ConfigNode& node, std::string_view what, std::int64_t minimum,
                          std::int64_t maximum = std::numeric_limits<std::int64_t>::max());
std::uint64_t read_seed(const ConfigNode& node, std::string_view what);
/// A finite number >= minimum.
double read_number(const ConfigNode& node, std::string_view what, double minimum);
bool read_boolean(const ConfigNode& node, std::string_view what);
/// A text that is not empty and has no control characters.
std::string read_text(const ConfigNode& node, std::string_view what);
/// One of `choices`; returns its index.
std::size_t read_choice(const ConfigNode& node, std::string_view what,
                        const std::vector<std::string>& choices);

/// Hands out the values of a map by key; any other key is an error.
class MapReader {
 public:
  /// Throws InputError when the node is not a map or has a key that is not among `keys`. `path` is
  /// the dotted path of the map, empty for the document.
  MapReader(const ConfigNode& node, std::string path, const std::vector<std::string>& keys);

  /// The value of a key, or null when it is not given. Throws InputError for a key without a value.
  const ConfigNode* find(std::string_view key) const;
  /// Throws InputError at the map when the key is not given.
  const ConfigNode& require(std::string_view key) const;
  /// Dotted path of a key.
  std::string path(std::string_view key) const;

 private:
  const ConfigNode& node_;
  std::string path_;
};

}  // namespace lloyd::experiment
