#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "data/rows/row_writers.hpp"

namespace lloyd {
namespace {

class FvecsWriter : public RowWriter {
 public:
  FvecsWriter(const std::filesystem::path& file, const TableFormat& table, std::int32_t features)
      : file_(file, min_bytes(table, sizeof(float))),
        row_(4 + static_cast<std::size_t>(features) * sizeof(float)) {
    std::memcpy(row_.data(), &features, sizeof(features));
  }

  void write(const void* values, std::int64_t rows, std::span<const std::string>) override {
    const auto* from = static_cast<const char*>(values);
    const std::size_t row_bytes = row_.size() - 4;
    for (std::int64_t i = 0; i < rows; ++i, from += row_bytes) {
      std::memcpy(row_.data() + 4, from, row_bytes);
      file_.write({row_.data(), row_.size()});
    }
  }

  void commit() override { file_.commit(); }

 private:
  NewFile file_;
  std::vector<char> row_;
};

}  // namespace

std::unique_ptr<RowWriter> create_fvecs_rows(const std::filesystem::path& file,
                                             const TableFormat& table) {
  if (table.dtype != DType::float32) {
    throw InputError(
        fmt::format("{}: an .fvecs file holds float32 values, and these are float64; a dtype of "
                    "float32 rounds them",
                    file.string()));
  }
  if (table.features > std::numeric_limits<std::int32_t>::max()) {
    throw InputError(fmt::format("{}: rows of {} values are beyond an .fvecs file", file.string(),
                                 table.features));
  }
  return std::make_unique<FvecsWriter>(file, table, static_cast<std::int32_t>(table.features));
}

}  // namespace lloyd
