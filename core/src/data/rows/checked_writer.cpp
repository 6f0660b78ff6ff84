// Refuses tables, and calls of a RowWriter, that the writers of the formats do not expect.
#include <string>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>

#include "data/rows/row_writers.hpp"

namespace lloyd {
namespace {

class CheckedWriter : public RowWriter {
 public:
  CheckedWriter(const std::filesystem::path& file, bool has_classes,
                std::unique_ptr<RowWriter> writer)
      : name_(file.string()), has_classes_(has_classes), writer_(std::move(writer)) {}

  void write(const void* values, std::int64_t rows, std::span<const std::string> classes) override {
    require_open();
    if (rows < 0) {
      throw InputError(fmt::format("{}: {} rows cannot be written", name_, rows));
    }
    if (values == nullptr && rows > 0) {
      throw InputError(
          fmt::format("{}: the values of {} are null", name_, format_count(rows, "row")));
    }
    if (has_classes_ && std::ssize(classes) != rows) {
      throw InputError(
          fmt::format("{}: the number of classes is {}, that of rows {}; a table with classes "
                      "needs one per row",
                      name_, classes.size(), rows));
    }
    writer_->write(values, rows, classes);
  }

  void commit() override {
    require_open();
    committed_ = true;
    writer_->commit();
  }

 private:
  void require_open() const {
    if (!committed_) return;
    throw InputError(name_ + ": commit() was called before; a writer writes one file");
  }

  std::string name_;
  bool has_classes_;
  std::unique_ptr<RowWriter> writer_;
  bool committed_ = false;
};

}  // namespace

void check_table(const std::filesystem::path& file, const TableFormat& table) {
  if (table.features < 1) {
    throw InputError(fmt::format("{}: the table has {}; at least 1 is needed", file.string(),
                                 format_count(table.features, "feature")));
  }
  const auto dtype = static_cast<std::int32_t>(table.dtype);
  if (dtype < 0 || dtype > static_cast<std::int32_t>(DType::float64)) {
    throw InputError(fmt::format("{}: the dtype is {}; it must be DType::float32 or float64",
                                 file.string(), dtype));
  }
  if (table.rows < 0) {
    throw InputError(
        fmt::format("{}: the number of rows is {}; it must be 0, if it is unknown, or more",
                    file.string(), table.rows));
  }
  if (!table.feature_names.empty() && std::ssize(table.feature_names) != table.features) {
    throw InputError(fmt::format("{}: there are {} feature names for {}", file.string(),
                                 table.feature_names.size(),
                                 format_count(table.features, "feature")));
  }
}

std::unique_ptr<RowWriter> make_checked_writer(const std::filesystem::path& file,
                                               const TableFormat& table,
                                               std::unique_ptr<RowWriter> writer) {
  return std::make_unique<CheckedWriter>(file, table.has_classes, std::move(writer));
}

}  // namespace lloyd
