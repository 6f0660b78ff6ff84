#include "experiment/yaml/config_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/internal/suggestion.hpp>
#include <lloyd/parameter_set.hpp>

#include "experiment/yaml/config_text.hpp"
#include "text/synonyms.hpp"

namespace lloyd::experiment {
namespace {

// Parses the whole plain scalar; returns false if it is no such number.
template <class T>
bool convert(const ConfigNode& node, T& value) {
  if (!may_be_number(node)) return false;
  const char* end = node.text.data() + node.text.size();
  const auto [last, error] = std::from_chars(node.text.data(), end, value);
  return error == std::errc() && last == end;
}

// The end of a message about an unknown key of the map at `path`: the key of Lloyd for a name that
// other programs use, or that belongs into another map, otherwise as suggestion().
std::string key_suggestion(const std::string& name, const std::string& path,
                           const std::vector<std::string>& keys) {
  const std::string prefix = path.empty() ? "" : path + ".";
  const std::string key = apps::key_for(name);
  const std::string root = key.substr(0, key.find_first_of(".:"));
  const bool is_here = path.empty() ? std::find(keys.begin(), keys.end(), root) != keys.end()
                                    : key.starts_with(prefix);
  if (key.empty() || !is_here) return suggestion(name, keys);
  return fmt::format(" (did you mean '{}'?)", key.substr(prefix.size()));
}

// The end of a message about the first of several unknown keys; `others`: the others.
std::string other_keys_text(const std::vector<std::string>& others) {
  constexpr std::size_t kMaxNamed = 3;
  if (others.empty()) return {};
  if (others.size() == 1) return fmt::format("; so is '{}'", excerpt(others.front()));
  if (others.size() > kMaxNamed) return fmt::format("; so are {} more keys", others.size());
  std::vector<std::string> names;
  for (const std::string& other : others) names.push_back(fmt::format("'{}'", excerpt(other)));
  return fmt::format("; so are {}", enumerated(names, "and"));
}

}  // namespace

bool may_be_number(const ConfigNode& node) {
  return node.is_scalar() && !node.quoted && !has_leading_zero(node.text);
}

std::int64_t read_integer(const ConfigNode& node, std::string_view what, std::int64_t minimum,
                          std::int64_t maximum) {
  std::int64_t value = 0;
  if (convert(node, value) && value >= minimum && value <= maximum) return value;
  const std::string range = maximum == std::numeric_limits<std::int64_t>::max()
                                ? fmt::format(">= {}", minimum)
                                : fmt::format("from {} to {}", minimum, maximum);
  node.fail(fmt::format("'{}' must be an integer {}, not {}", what, range, node.kind_text()));
}

std::uint64_t read_seed(const ConfigNode& node, std::string_view what) {
  std::uint64_t value = 0;
  if (convert(node, value)) return value;
  node.fail(fmt::format("'{}' must be an integer from 0 to {}, not {}", what,
                        std::numeric_limits<std::uint64_t>::max(), node.kind_text()));
}

std::optional<double> find_number(const ConfigNode& node) {
  double value = 0;
  if (!convert(node, value) || !std::isfinite(value)) return std::nullopt;
  return value == 0 ? 0 : value;  // -0 would count as another setting
}

double read_number(const ConfigNode& node, std::string_view what, double minimum) {
  const std::optional<double> value = find_number(node);
  if (value && *value >= minimum) return *value;
  node.fail(
      fmt::format("'{}' must be a finite number >= {}, not {}", what, minimum, node.kind_text()));
}

bool read_boolean(const ConfigNode& node, std::string_view what) {
  if (node.is_scalar() && !node.quoted) {
    if (node.text == "true") return true;
    if (node.text == "false") return false;
  }
  node.fail(fmt::format("'{}' must be true or false, not {}", what, node.kind_text()));
}

std::string read_text(const ConfigNode& node, std::string_view what) {
  if (!node.is_scalar() || node.text.empty()) {
    node.fail(fmt::format("'{}' must be a text, not {}", what,
                          node.is_scalar() ? "an empty one" : node.kind_text()));
  }
  if (printable(node.text) != node.text) {
    node.fail(fmt::format(
        "'{}' must not hold control characters, invisible characters or bytes that are not UTF-8",
        what));
  }
  return node.text;
}

std::size_t read_choice(const ConfigNode& node, std::string_view what,
                        const std::vector<std::string>& choices) {
  if (!node.is_scalar()) {
    node.fail(fmt::format("'{}' must be one of {}, not {}", what, fmt::join(choices, ", "),
                          node.kind_text()));
  }
  const auto found = std::find(choices.begin(), choices.end(), node.text);
  if (found == choices.end()) {
    node.fail(fmt::format("'{}' must be one of {}, not '{}'", what, fmt::join(choices, ", "),
                          excerpt(node.text)));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

MapReader::MapReader(const ConfigNode& node, std::string path, const std::vector<std::string>& keys)
    : node_(node), path_(std::move(path)) {
  if (!node.is_map()) {
    node.fail(fmt::format("{} must be a map with the keys {}, not {}",
                          path_.empty() ? "a configuration" : fmt::format("'{}'", path_),
                          fmt::join(keys, ", "), node.kind_text()));
  }
  const auto is_known = [&](const ConfigNode& child) {
    return std::find(keys.begin(), keys.end(), child.key) != keys.end();
  };
  const auto first = std::find_if_not(node.children.begin(), node.children.end(), is_known);
  if (first == node.children.end()) return;
  const std::string where = path_.empty() ? "" : fmt::format(" in '{}'", path_);
  if (first->key == "<<") {
    first->fail_at_key(fmt::format("merge keys ('<<') are not supported{}", where));
  }
  std::vector<std::string> others;
  for (auto child = first + 1; child != node.children.end(); ++child) {
    if (!is_known(*child)) others.push_back(child->key);
  }
  first->fail_at_key(fmt::format("unknown key '{}'{}{}{}", excerpt(first->key), where,
                                 key_suggestion(first->key, path_, keys), other_keys_text(others)));
}

const ConfigNode* MapReader::find(std::string_view key) const {
  const ConfigNode* node = node_.find(key);
  if (node != nullptr && node->is_null()) {
    node->fail_at_key(fmt::format("'{}' has no value", path(key)));
  }
  return node;
}

const ConfigNode& MapReader::require(std::string_view key) const {
  const ConfigNode* node = find(key);
  if (node == nullptr) node_.fail(fmt::format("'{}' is missing", path(key)));
  return *node;
}

std::string MapReader::path(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

}  // namespace lloyd::experiment
