// GzipStream: decompresses a gzip file from its beginning to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/io/input_file.hpp"

namespace lloyd {

class GzipStream {
 public:
  /// `file` must outlive the stream.
  explicit GzipStream(const InputFile& file);
  ~GzipStream();

  /// Reads up to `size` decompressed bytes and returns their number, which is smaller only at the
  /// end. Concatenated members are read as one file; zeros after the last member are ignored.
  /// Throws InputError for data that is not gzip, damaged or truncated.
  std::size_t read(char* buffer, std::size_t size);
  /// Number of compressed bytes read so far.
  std::int64_t position() const { return offset_; }

 private:
  struct Inflater;

  void fill();
  bool begin_member();

  const InputFile& file_;
  std::unique_ptr<Inflater> inflater_;
  std::vector<unsigned char> input_;
  std::int64_t offset_ = 0;
  bool in_member_ = false;
  bool ended_ = false;
};

}  // namespace lloyd
