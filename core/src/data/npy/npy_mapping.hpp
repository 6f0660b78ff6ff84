// NpyMapping: maps the values of an .npy file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <lloyd/data/backing_file.hpp>
#include <lloyd/data/row_source.hpp>

#include "data/io/input_file.hpp"

namespace lloyd {

class NpyMapping final : public RowMapping {
 public:
  /// The values of rows of `row_bytes` bytes begin at `offset` of the file. Returns null if the
  /// file cannot be mapped.
  static std::unique_ptr<NpyMapping> of(std::shared_ptr<const InputFile> file, std::size_t offset,
                                        std::int64_t row_bytes);
  ~NpyMapping() override;

  const void* values() const override { return begin_ + offset_; }
  void load(RowRange rows) const override;
  void release(RowRange rows) const override;

 private:
  NpyMapping(std::shared_ptr<const InputFile> file, char* begin, std::size_t offset,
             std::int64_t row_bytes);
  // madvise() for the pages of rows. Returns errno, 0 if it succeeded.
  int advise(RowRange rows, int advice) const;

  std::shared_ptr<const InputFile> file_;
  char* begin_;  // of the mapping of the whole file
  std::size_t offset_;
  std::int64_t row_bytes_;
  std::optional<BackingFile> registered_;  // for the message if a page is gone
};

}  // namespace lloyd
