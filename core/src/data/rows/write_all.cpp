#include "data/rows/write_all.hpp"

#include <cstddef>
#include <span>
#include <string>

#include "dataset/check_shape.hpp"
#include "dataset/row_blocks.hpp"

namespace lloyd {

TableFormat table_format(const Dataset& dataset) {
  dataset.check_mapped_file();
  require_host_memory(dataset, "writing a file");
  check_classes(dataset);
  check_feature_names(dataset);
  return {.features = dataset.features(),
          .dtype = dataset.dtype(),
          .feature_names = dataset.feature_names,
          .has_classes = !dataset.classes.empty(),
          .class_name = dataset.class_name,
          .rows = dataset.samples()};
}

void write_all(RowWriter& writer, const Dataset& dataset) {
  const std::span<const std::string> classes = dataset.classes;
  const auto classes_of = [classes](std::int64_t first, std::int64_t rows) {
    return classes.empty()
               ? classes
               : classes.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows));
  };
  if (!dataset.in_memory()) {
    const RowSource& source = *dataset.source();
    RowBlocks(source, usual_block_rows(source)).for_each([&](RowRange rows, const void* values) {
      writer.write(values, rows.size(), classes_of(rows.begin, rows.size()));
    });
    return writer.commit();
  }
  const Matrix& matrix = dataset.matrix();
  const std::int64_t step = matrix.stride * size_of(matrix.dtype);
  const char* row = static_cast<const char*>(matrix.data);
  for (std::int64_t i = 0; i < matrix.rows; ++i) writer.write(row + i * step, 1, classes_of(i, 1));
  writer.commit();
}

}  // namespace lloyd
