// TextBlocks: a text file in blocks of whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "data/gzip_stream.hpp"
#include "data/input_file.hpp"
#include "data/page_buffer.hpp"

namespace lloyd {

/// Reads plain text, or, where the file's extension is .gz, text in gzip. Memory is that of a
/// block of some megabytes, or of a line. What a function returns is valid until the next call. All
/// throw InputError, also for a file that is changed meanwhile.
class TextBlocks {
 public:
  /// A line may have up to `line_limit` bytes, a block more where that is what is read at a time.
  /// `stop`, which may be empty, is asked before each block: once it says so, Cancelled is thrown.
  TextBlocks(const std::filesystem::path& file, std::int64_t line_limit,
             std::function<bool()> stop = {});

  const std::string& path() const { return file_.path(); }

  /// The lines that follow; empty at the end of the file. Only the file's last line may lack its
  /// line feed.
  /// `line`, for messages, is the number of the first line that no call has returned yet.
  std::string_view next(std::int64_t line);
  /// The present block with at least one more line; the present block again at the end of the file.
  /// `line` as above.
  std::string_view extend(std::int64_t line);

  /// The part of the file that has been read, 0 to 1.
  double fraction() const;
  /// Memory that is taken, in bytes.
  std::int64_t memory() const { return static_cast<std::int64_t>(buffer_.size()); }

 private:
  std::string_view grow(std::int64_t line);

  InputFile file_;
  std::size_t block_;  // bytes that are read at a time
  std::optional<GzipStream> gzip_;
  std::int64_t offset_ = 0;  // of plain text
  std::size_t line_limit_;
  std::function<bool()> stop_;
  PageBuffer<char> buffer_;
  std::size_t filled_ = 0;
  std::size_t given_ = 0;  // of what is filled, in whole lines
  bool ended_ = false;
};

}  // namespace lloyd
