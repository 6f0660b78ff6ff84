// ConfigNode: a YAML document as a tree of values that know where they were written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lloyd::experiment {

/// A place in a file; lines and columns are counted from 1.
struct Place {
  std::shared_ptr<const std::string> file;  ///< name for messages
  int line = 1;
  int column = 1;

  /// Throws InputError "file:line:column: message".
  [[noreturn]] void fail(std::string_view message) const;
};

/// A value and, inside a map, its key. Copies keep their places, so that a tree can be varied and
/// messages still point to where a value came from.
class ConfigNode {
 public:
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  std::string text;     ///< of a scalar
  bool quoted = false;  ///< a scalar in quotes is a text, never a number
  Place place;
  std::string key;                   ///< empty outside a map
  Place key_place;                   ///< outside a map, the value's
  std::vector<ConfigNode> children;  ///< of a sequence or map, in the order written

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_map() const { return kind == Kind::map; }

  /// The value of a map's key, or null when there is none.
  const ConfigNode* find(std::string_view name) const;
  /// A short text of the value, in YAML's flow style.
  std::string describe() const;
  /// What the value is, for messages: "a map", "a list", "nothing", "'text'".
  std::string kind_text() const;

  /// Throws InputError at the value or at the key.
  [[noreturn]] void fail(std::string_view message) const { place.fail(message); }
  [[noreturn]] void fail_at_key(std::string_view message) const { key_place.fail(message); }
};

/// Levels of lists and maps inside each other, aliases included: all that walks over a document
/// does so recursively.
inline constexpr int kMaxNesting = 64;

/// Parts that a dotted path may have at most.
inline constexpr std::ptrdiff_t kMaximumPathParts = 8;

/// Sets the value at a dotted path, making the maps on the way where they are missing. What is made
/// has the place of `value`'s key. Throws InputError at that key when the path leads through
/// something that is not a map.
void set_path(ConfigNode& root, std::string_view path, const ConfigNode& value);

/// Parses one YAML document. Throws InputError with file, line and column for a syntax error, a
/// duplicate key, a key that is not a plain text, a tag, a second document, aliases that refer to
/// themselves, what is nested more than kMaxNesting levels deep, aliases or anchors that multiply
/// the document beyond reason, and bytes that are not text in UTF-8. `file` is used in messages.
ConfigNode parse_config(const std::string& text, const std::string& file);
/// Reads a file and parses it.
ConfigNode read_config(const std::filesystem::path& file);

}  // namespace lloyd::experiment
