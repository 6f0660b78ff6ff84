// NpyRows: reads an .npy file in blocks of rows.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <lloyd/data/row_source.hpp>

#include "data/io/input_file.hpp"
#include "data/npy/npy_header.hpp"

namespace lloyd {

/// Accepts the files that read_npy() accepts, without mapping them. Memory besides the caller's
/// buffer: at most a megabyte, for values that are converted and files in Fortran order.
class NpyRows : public RowSource {
 public:
  /// Throws what read_npy() throws.
  explicit NpyRows(const std::filesystem::path& file);
  /// The array in bytes [begin, begin + size) of a file. `name` is that of the data set.
  NpyRows(std::string name, std::shared_ptr<const InputFile> file, std::int64_t begin,
          std::int64_t size);

  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return header_.rows; }
  std::int64_t features() const override { return header_.columns; }
  DType dtype() const override { return header_.dtype; }
  void read(RowRange rows, void* values) const override;
  // A few rows in Fortran order are a short piece of each column.
  bool reads_in_parallel() const override { return !header_.fortran_order; }
  std::unique_ptr<RowMapping> map() const override;
  std::string touched_file() const override { return file_->touched_path(); }
  std::vector<FeatureRounding> rounding() const override;

 private:
  template <class Stored, class T>
  void read_values(RowRange rows, T* values) const;
  template <class Stored, class T>
  void read_columns(RowRange rows, T* values) const;
  template <class Stored>
  std::vector<FeatureRounding> rounding_of() const;
  template <class Stored>
  void read_stored(std::int64_t first_value, Stored* values, std::int64_t count) const;

  std::string name_;
  std::shared_ptr<const InputFile> file_;
  NpyHeader header_;
};

}  // namespace lloyd
