#include <lloyd/data/row_source.hpp>

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>

#include "data/rows/check_rows.hpp"
#include "data/rows/read_all.hpp"
#include "dataset/check_shape.hpp"
#include "dataset/row_marks.hpp"

namespace lloyd {
namespace {

class MatrixRows : public RowSource {
 public:
  MatrixRows(std::string name, Matrix matrix)
      : name_(std::move(name)), matrix_(std::move(matrix)) {}

  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return matrix_.rows; }
  std::int64_t features() const override { return matrix_.columns; }
  DType dtype() const override { return matrix_.dtype; }
  bool reads_in_parallel() const override { return true; }

  void read(RowRange rows, void* values) const override {
    check_rows(*this, rows);
    const std::int64_t size = size_of(matrix_.dtype);
    const std::int64_t row_bytes = matrix_.columns * size;
    auto* to = static_cast<char*>(values);
    const char* from = static_cast<const char*>(matrix_.data) + rows.begin * matrix_.stride * size;
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      std::memcpy(to + i * row_bytes, from + i * matrix_.stride * size,
                  static_cast<std::size_t>(row_bytes));
    }
  }

 private:
  std::string name_;
  Matrix matrix_;
};

template <class T>
Matrix read_values(const RowSource& source) {
  const std::int64_t n = source.samples();
  const std::int64_t d = source.features();
  std::vector<T> values;
  try {
    values.resize(static_cast<std::size_t>(n * d));
  } catch (const std::exception&) {  // std::bad_alloc or std::length_error
    throw InputError(fmt::format("{}: {} of {} values do not fit into memory", source.name(),
                                 format_count(n, "row"), d));
  }
  read_filled(source, {0, n}, values.data(), MarkedRows::every);
  return Matrix::from_values(std::move(values), n, d);
}

}  // namespace

std::unique_ptr<RowSource> rows_of(std::string name, Matrix matrix) {
  if (matrix.rows > 0) check_values_given(name, matrix);
  return std::make_unique<MatrixRows>(std::move(name), std::move(matrix));
}

Matrix read_all(const RowSource& source) {
  return source.dtype() == DType::float32 ? read_values<float>(source)
                                          : read_values<double>(source);
}

Dataset read_whole(const RowSource& source) {
  Dataset dataset(read_all(source), source);
  dataset.rounding = source.rounding();
  return dataset;
}

}  // namespace lloyd
