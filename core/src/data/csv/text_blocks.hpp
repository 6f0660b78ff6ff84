// TextBlocks: reads a text file in blocks of whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "data/csv/cells/number_notation.hpp"
#include "data/io/gzip_stream.hpp"
#include "data/io/input_file.hpp"
#include "data/io/page_buffer.hpp"

namespace lloyd {

/// Reads plain text or, for the extension .gz, gzip. Memory: a block of some megabytes, or one
/// line. A returned block is valid until the next call. All functions throw InputError, also if the
/// file is changed meanwhile.
class TextBlocks {
 public:
  /// A line may have up to `line_limit` bytes, or a block more if it is read together with others.
  /// `stop`, which may be empty, is polled before each block; Cancelled is thrown if it returns
  /// true. Numbers in another `notation` are rewritten, see rewrite_numbers().
  TextBlocks(const std::filesystem::path& file, std::int64_t line_limit,
             std::function<bool()> stop = {}, const NumberNotation& notation = {});

  const std::string& path() const { return file_.path(); }

  /// The next block of lines; empty at the end of the file. Only the last line may lack its line
  /// feed. `line` is the number of the first line of the block, for messages.
  std::string_view next(std::int64_t line);
  /// The current block with at least one more line, or unchanged at the end of the file. `line` as
  /// above.
  std::string_view extend(std::int64_t line);

  /// The fraction of the file that has been read, 0 to 1.
  double fraction() const;
  /// Memory in use, in bytes.
  std::int64_t memory() const { return static_cast<std::int64_t>(buffer_.size()); }

 private:
  std::string_view grow(std::int64_t line);
  std::string_view give(std::size_t end);

  InputFile file_;
  std::size_t block_;  // bytes per read
  std::optional<GzipStream> gzip_;
  std::int64_t offset_ = 0;  // position in plain text
  std::size_t line_limit_;
  std::function<bool()> stop_;
  NumberNotation notation_;
  PageBuffer<char> buffer_;
  std::size_t filled_ = 0;
  std::size_t given_ = 0;  // bytes returned, in whole lines
  bool ended_ = false;
};

}  // namespace lloyd
