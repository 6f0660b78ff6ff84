// NpyRows: reads an .npy file in blocks of rows.
#pragma once

#include <filesystem>
#include <string>

#include <lloyd/data/row_source.hpp>

#include "data/io/input_file.hpp"
#include "data/npy/npy_header.hpp"

namespace lloyd {

/// Accepts the files that read_npy() accepts, without mapping them. Memory besides the caller's
/// buffer: at most a megabyte, for a file in Fortran order.
class NpyRows : public RowSource {
 public:
  /// Throws what read_npy() throws.
  explicit NpyRows(const std::filesystem::path& file);

  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return header_.rows; }
  std::int64_t features() const override { return header_.columns; }
  DType dtype() const override { return header_.dtype; }
  void read(RowRange rows, void* values) const override;
  std::string touched_file() const override { return file_.touched_path(); }

 private:
  template <class T>
  void read_values(RowRange rows, T* values) const;
  template <class T>
  void read_columns(RowRange rows, T* values) const;

  std::string name_;
  InputFile file_;
  NpyHeader header_;
};

}  // namespace lloyd
