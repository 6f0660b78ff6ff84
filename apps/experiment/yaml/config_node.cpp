#include "experiment/yaml/config_node.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/yaml/config_text.hpp"

namespace lloyd::experiment {
void Place::fail(std::string_view message) const {
  // A quoted value may be as long as the file.
  constexpr std::size_t kMaxBytes = 2000;
  throw InputError(fmt::format("{}:{}:{}: {}{}", *file, line, column, message.substr(0, kMaxBytes),
                               message.size() > kMaxBytes ? "..." : ""));
}

const ConfigNode* ConfigNode::find(std::string_view name) const {
  if (!is_map()) return nullptr;
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const ConfigNode& child) { return child.key == name; });
  return found == children.end() ? nullptr : &*found;
}

std::string ConfigNode::describe() const {
  if (is_null()) return "null";
  if (is_scalar()) return text;
  std::string result = is_map() ? "{" : "[";
  for (const ConfigNode& child : children) {
    if (&child != &children.front()) result += ", ";
    if (is_map()) result += child.key + ": ";
    result += child.describe();
  }
  return result + (is_map() ? "}" : "]");
}

std::string ConfigNode::kind_text() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return quoted ? fmt::format("the text '{}'", excerpt(text))
                    : fmt::format("'{}'", excerpt(text));
    case Kind::sequence:
      return "a list";
    case Kind::map:
      return "a map";
  }
  return {};
}

void set_path(ConfigNode& root, std::string_view path, const ConfigNode& value) {
  ConfigNode* at = &root;
  std::string_view rest = path;
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string name(rest.substr(0, dot));
    if (name.empty()) value.fail_at_key(fmt::format("the path '{}' has an empty part", path));
    auto found = std::find_if(at->children.begin(), at->children.end(),
                              [&](const ConfigNode& child) { return child.key == name; });
    if (found == at->children.end()) {
      ConfigNode made;
      made.kind = ConfigNode::Kind::map;
      made.key = name;
      made.place = made.key_place = value.key_place;
      found = at->children.insert(found, std::move(made));
    }
    if (dot == std::string_view::npos) {
      const Place key_place = found->key_place;
      *found = value;
      found->key = name;
      found->key_place = key_place;
      return;
    }
    if (found->is_null()) found->kind = ConfigNode::Kind::map;
    if (!found->is_map()) {
      value.fail_at_key(fmt::format("the path '{}' leads through '{}', which is {}, not a map",
                                    path, name, found->kind_text()));
    }
    at = &*found;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace lloyd::experiment
