// ConfigNode: a YAML document as a tree of values that carry their places in the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lloyd::experiment {

/// A place in a file; lines and columns count from 1.
struct Place {
  std::shared_ptr<const std::string> file;  ///< file name, for messages
  int line = 1;
  int column = 1;

  /// Throws InputError "file:line:column: message".
  [[noreturn]] void fail(std::string_view message) const;
};

/// A value and, inside a map, its key. Copies keep their places, so that messages about a varied
/// tree still point to the origin of a value.
class ConfigNode {
 public:
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  std::string text;     ///< only for scalars
  bool quoted = false;  ///< written in quotes: a text, never a number
  Place place;
  std::string key;                   ///< empty outside a map
  Place key_place;                   ///< same as `place` outside a map
  std::vector<ConfigNode> children;  ///< of a sequence or map, in file order

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_map() const { return kind == Kind::map; }

  /// Returns the value of a map's key, or null if there is none.
  const ConfigNode* find(std::string_view name) const;
  /// The value as a short text, in YAML's flow style.
  std::string describe() const;
  /// The kind of the value, for messages: "a map", "a list", "nothing", "'text'".
  std::string kind_text() const;

  /// Throw InputError with the place of the value or of the key.
  [[noreturn]] void fail(std::string_view message) const { place.fail(message); }
  [[noreturn]] void fail_at_key(std::string_view message) const { key_place.fail(message); }
};

/// Maximum nesting of lists and maps, aliases included. It bounds the recursion of every function
/// that walks a document.
inline constexpr int kMaxNesting = 64;

/// Maximum number of parts in a dotted path.
inline constexpr std::ptrdiff_t kMaxPathParts = 8;

/// Sets the value at a dotted path and creates missing maps along it; created maps get the place of
/// `value`'s key. Throws InputError at that key if the path leads through a value that is not a
/// map.
void set_path(ConfigNode& root, std::string_view path, const ConfigNode& value);

/// Parses one YAML document. `file` is used in messages. Throws InputError with file, line and
/// column for a syntax error, a duplicate key, a key that is not a plain text, a tag, a second
/// document, an alias that contains itself, more than kMaxNesting levels, aliases or anchors that
/// expand the document to more than 100'000 values, and bytes that are not UTF-8 text.
ConfigNode parse_config(const std::string& text, const std::string& file);
/// Reads a regular file and parses it. Throws InputError as parse_config() does, and if the file
/// cannot be read or is too large.
ConfigNode read_config(const std::filesystem::path& file);

}  // namespace lloyd::experiment
