// GzipStream: the bytes that a gzip file holds, from its begin to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/input_file.hpp"

namespace lloyd {

class GzipStream {
 public:
  /// `file` must outlive the stream.
  explicit GzipStream(const InputFile& file);
  ~GzipStream();

  /// Reads up to `size` bytes and returns how many: fewer only at the end. Several members one
  /// after another are read as one; zeros behind the last are passed over. Throws InputError for
  /// data that is no gzip, damaged or cut short.
  std::size_t read(char* buffer, std::size_t size);
  /// Compressed bytes that have been read.
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
