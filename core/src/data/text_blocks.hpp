// TextBlocks: a text file in blocks of whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "data/gzip_stream.hpp"
#include "data/input_file.hpp"

namespace lloyd {

/// Reads plain text, or, where the file's extension is .gz, text in gzip. Memory is that of a
/// block of some megabytes; a line may have up to 256 MiB. What a function returns is valid until
/// the next call. All throw InputError.
class TextBlocks {
 public:
  explicit TextBlocks(const std::filesystem::path& file);

  const std::string& path() const { return file_.path(); }

  /// The lines that follow; empty at the end of the file. Only the file's last line may lack its
  /// line feed.
  std::string_view next();
  /// The present block with at least one more line; the present block again at the end of the file.
  std::string_view extend();

  /// The part of the file that has been read, 0 to 1.
  double fraction() const;
  /// Bytes of text behind the present block; not known of gzip.
  std::optional<std::int64_t> bytes_left() const;

 private:
  std::string_view grow();

  InputFile file_;
  std::size_t block_;  // bytes that are read at a time
  std::optional<GzipStream> gzip_;
  std::int64_t offset_ = 0;  // of plain text
  std::vector<char> buffer_;
  std::size_t filled_ = 0;
  std::size_t given_ = 0;  // of what is filled, in whole lines
  bool ended_ = false;
};

}  // namespace lloyd
