// FvecsRows: reads an .fvecs or .bvecs file in blocks of rows.
#pragma once

#include <filesystem>
#include <string>

#include <lloyd/data/row_source.hpp>

#include "data/fvecs/fvecs_header.hpp"
#include "data/io/input_file.hpp"

namespace lloyd {

/// Accepts the files that read_fvecs() accepts; the count of a row is checked when the row is read.
/// Memory besides the caller's buffer: a megabyte or one row.
class FvecsRows : public RowSource {
 public:
  /// Throws InputError.
  explicit FvecsRows(const std::filesystem::path& file);

  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return header_.rows; }
  std::int64_t features() const override { return header_.columns; }
  DType dtype() const override { return DType::float32; }
  void read(RowRange rows, void* values) const override;
  bool reads_in_parallel() const override { return true; }
  std::string touched_file() const override { return file_.touched_path(); }

 private:
  std::string name_;
  InputFile file_;
  FvecsHeader header_;
};

}  // namespace lloyd
