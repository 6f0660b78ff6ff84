#include "data/rows/write_all.hpp"

#include <span>
#include <string>

namespace lloyd {

TableFormat table_format(const Dataset& dataset) {
  return {.features = dataset.features(),
          .dtype = dataset.dtype(),
          .feature_names = dataset.feature_names,
          .has_classes = !dataset.classes.empty(),
          .class_name = dataset.class_name,
          .rows = dataset.samples()};
}

void write_all(RowWriter& writer, const Dataset& dataset) {
  const Matrix& matrix = dataset.matrix();
  const std::int64_t step = matrix.stride * size_of(matrix.dtype);
  const char* row = static_cast<const char*>(matrix.data);
  const std::span<const std::string> classes = dataset.classes;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    const auto one = classes.empty() ? classes : classes.subspan(static_cast<std::size_t>(i), 1);
    writer.write(row + i * step, 1, one);
  }
  writer.commit();
}

}  // namespace lloyd
