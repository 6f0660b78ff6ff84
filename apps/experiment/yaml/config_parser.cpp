// parse_config: builds a ConfigNode from the events of yaml-cpp's parser. (YAML::Node loses places
// when it is copied, and shows neither duplicate keys nor aliases.)
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>

#include "experiment/yaml/config_node.hpp"
#include "experiment/yaml/config_text.hpp"

namespace lloyd::experiment {
namespace {

// Aliases can make a document grow exponentially; no experiment has this many values.
constexpr std::size_t kMaxNodes = 100'000;
constexpr std::uintmax_t kMaxDocumentBytes = 1 << 20;

std::size_t count_nodes(const ConfigNode& node) {
  std::size_t count = 1;
  for (const ConfigNode& child : node.children) count += count_nodes(child);
  return count;
}

// The nesting depth of lists and maps; 0 for a scalar.
int levels_of(const ConfigNode& node) {
  if (!node.is_map() && !node.is_sequence()) return 0;
  int levels = 0;
  for (const ConfigNode& child : node.children) levels = std::max(levels, levels_of(child));
  return levels + 1;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::shared_ptr<const std::string> file, std::string_view text)
      : file_(std::move(file)), text_(text) {}

  ConfigNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) fail(mark, "a second document begins here; one is allowed");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (awaits_key()) {  // yaml-cpp also reports a key that is too long as null
      fail(mark, fmt::format("a key must be a text of at most {} bytes", kMaxKeyBytes));
    }
    end_node(start_node(ConfigNode::Kind::null, mark, "?"), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (awaits_key()) {
      check_tag(mark, tag);
      set_key(mark, value);
      return;
    }
    ConfigNode node = start_node(ConfigNode::Kind::scalar, mark, tag);
    node.text = value;
    node.quoted = tag == "!";
    if (node.quoted) check_quote(mark);
    end_node(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (awaits_key()) refuse_key(mark, "a list");
    open(start_node(ConfigNode::Kind::sequence, mark, tag), anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (awaits_key()) refuse_key(mark, "a map");
    open(start_node(ConfigNode::Kind::map, mark, tag), anchor);
  }
  void OnMapEnd() override { close(); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (awaits_key()) fail(mark, "a key must be a text, not an alias");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "an alias occurs inside the value that it refers to");
    ConfigNode node = found->second;
    count_ += count_nodes(node);
    check_count(mark);
    check_nesting(mark, std::ssize(open_) + levels_of(node));
    end_node(std::move(node), YAML::NullAnchor);
  }

 private:
  struct Open {
    ConfigNode node;
    YAML::anchor_t anchor;
    std::string key;  // key of the next value in a map
    Place key_place;
    bool has_key;
    std::unordered_map<std::string, int> lines;  // line of each key so far
  };

  Place place_of(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  [[noreturn]] void fail(const YAML::Mark& mark, std::string_view message) const {
    place_of(mark).fail(message);
  }

  void check_count(const YAML::Mark& mark) const {
    if (count_ > kMaxNodes) {
      fail(mark, fmt::format("the document has more than {} values", kMaxNodes));
    }
  }

  // yaml-cpp reports untagged values with the tag "?", or "!" if they are quoted.
  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    fail(mark, fmt::format("tags such as '{}' are not supported", excerpt(tag)));
  }

  void check_nesting(const YAML::Mark& mark, std::ptrdiff_t levels) const {
    if (levels > kMaxNesting) {
      fail(mark, fmt::format("lists and maps are nested more than {} levels deep", kMaxNesting));
    }
  }

  // yaml-cpp reads a text with an unclosed quote up to the end of the file.
  void check_quote(const YAML::Mark& mark) const {
    const auto at = static_cast<std::size_t>(mark.pos);
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return;
    if (!is_closed(text_, at)) fail(mark, fmt::format("the quote {} is never closed", text_[at]));
  }

  // yaml-cpp also reports an unclosed bracket as a key.
  [[noreturn]] void refuse_key(const YAML::Mark& mark, const char* what) const {
    const auto at = static_cast<std::size_t>(mark.pos);
    if (at < text_.size() && (text_[at] == '[' || text_[at] == '{') && !is_closed(text_, at)) {
      fail(mark, fmt::format("the '{}' is never closed", text_[at]));
    }
    fail(mark, fmt::format("a key must be a text, not {}", what));
  }

  void open(ConfigNode node, YAML::anchor_t anchor) {
    open_.push_back({std::move(node), anchor, {}, {}, false, {}});
  }

  bool awaits_key() const {
    return !open_.empty() && open_.back().node.is_map() && !open_.back().has_key;
  }

  void set_key(const YAML::Mark& mark, const std::string& key) {
    Open& map = open_.back();
    const auto [first, is_new] = map.lines.emplace(key, mark.line + 1);
    if (!is_new) {
      fail(mark, fmt::format("duplicate key '{}', first at line {}", excerpt(key), first->second));
    }
    map.key = key;
    map.key_place = place_of(mark);
    map.has_key = true;
  }

  ConfigNode start_node(ConfigNode::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    ++count_;
    check_count(mark);
    const bool opens = kind == ConfigNode::Kind::sequence || kind == ConfigNode::Kind::map;
    check_nesting(mark, std::ssize(open_) + (opens ? 1 : 0));
    check_tag(mark, tag);
    ConfigNode node;
    node.kind = kind;
    node.place = place_of(mark);
    return node;
  }

  void end_node(ConfigNode node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      // Anchored values are copied, so nested anchors multiply memory as aliases do.
      anchored_ += count_nodes(node);
      if (anchored_ > kMaxNodes) {
        node.fail(fmt::format("there are more than {} values with anchors", kMaxNodes));
      }
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
      root_.key_place = root_.place;
      return;
    }
    Open& parent = open_.back();
    node.key = std::move(parent.key);
    node.key_place = parent.node.is_map() ? parent.key_place : node.place;
    parent.has_key = false;
    parent.key.clear();
    parent.node.children.push_back(std::move(node));
  }

  void close() {
    Open last = std::move(open_.back());
    open_.pop_back();
    end_node(std::move(last.node), last.anchor);
  }

  std::shared_ptr<const std::string> file_;
  std::string_view text_;
  ConfigNode root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, ConfigNode> anchors_;
  std::size_t count_ = 0;
  std::size_t anchored_ = 0;
  int documents_ = 0;
};

}  // namespace

ConfigNode parse_config(const std::string& raw, const std::string& file) {
  const auto name = std::make_shared<const std::string>(file);
  const std::string text(checked_text(raw, Place{name}));
  refuse_directives(text, Place{name});
  TreeBuilder builder(name, text);
  std::istringstream stream(text);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    // Some errors of yaml-cpp have no place.
    Place place{name};
    if (!error.mark.is_null()) {
      place.line = error.mark.line + 1;
      place.column = error.mark.column + 1;
    }
    place.fail("this is not valid YAML: " + yaml_error_text(text, place, error.msg));
  }
  ConfigNode root = builder.take();
  if (root.place.file == nullptr) root.place.file = root.key_place.file = name;
  return root;
}

ConfigNode read_config(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw InputError(fmt::format("{}: is a folder, not a configuration file", file.string()));
  }
  // Opening a FIFO would block, and a device may never end.
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (exists(status) && !is_regular_file(status)) {
    throw InputError(fmt::format("{}: is not a regular file", file.string()));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw InputError(
        fmt::format("{}: cannot be opened: {}", file.string(), descriptor_error(errno)));
  }
  std::string text(kMaxDocumentBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) throw InputError(fmt::format("{}: cannot be read", file.string()));
  if (text.size() > kMaxDocumentBytes) {
    throw InputError(
        fmt::format("{}: is larger than {} bytes, the maximum size of a configuration file",
                    file.string(), kMaxDocumentBytes));
  }
  return parse_config(text, file.string());
}

}  // namespace lloyd::experiment
