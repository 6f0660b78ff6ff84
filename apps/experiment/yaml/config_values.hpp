// Strict reading of typed values from a ConfigNode: no conversions, no unknown keys.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// Whether the value is an unquoted scalar without leading zeros, as numbers are.
bool may_be_number(const ConfigNode& node);

/// The value of a finite number; nullopt for anything else.
std::optional<double> find_number(const ConfigNode& node);

// Each function throws InputError at the place of the value if it has another type or is out of
// range. `what` is the dotted path of the key, for messages.
std::int64_t read_integer(const ConfigNode& node, std::string_view what, std::int64_t minimum,
                          std::int64_t maximum = std::numeric_limits<std::int64_t>::max());
std::uint64_t read_seed(const ConfigNode& node, std::string_view what);
/// A finite number >= minimum.
double read_number(const ConfigNode& node, std::string_view what, double minimum);
bool read_boolean(const ConfigNode& node, std::string_view what);
/// A non-empty text without control characters.
std::string read_text(const ConfigNode& node, std::string_view what);
/// Returns the index of the value in `choices`.
std::size_t read_choice(const ConfigNode& node, std::string_view what,
                        const std::vector<std::string>& choices);

/// Gives access to the values of a map by key; unknown keys are errors.
class MapReader {
 public:
  /// Throws InputError if the node is not a map, or has a key that is not in `keys`. `path` is the
  /// dotted path of the map, empty for the document.
  MapReader(const ConfigNode& node, std::string path, const std::vector<std::string>& keys);

  /// Returns the value of a key, or null if it is not given. Throws InputError for a key without a
  /// value.
  const ConfigNode* find(std::string_view key) const;
  /// Throws InputError at the place of the map if the key is not given.
  const ConfigNode& require(std::string_view key) const;
  /// Dotted path of a key.
  std::string path(std::string_view key) const;

 private:
  const ConfigNode& node_;
  std::string path_;
};

}  // namespace lloyd::experiment
