// FaultyRows: a row source that goes wrong after a number of reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <lloyd/data/row_source.hpp>

namespace lloyd {

/// The rows of a matrix. After a number of reads, `fault` is called with the `count` values of each
/// further one; it may change them or throw.
class FaultyRows final : public RowSource {
 public:
  using Fault = std::function<void(void* values, std::int64_t count)>;

  FaultyRows(std::string name, const Matrix& matrix, int good_reads, Fault fault)
      : rows_(rows_of(std::move(name), matrix)),
        good_reads_(good_reads),
        fault_(std::move(fault)) {}
  const std::string& name() const override { return rows_->name(); }
  std::int64_t samples() const override { return rows_->samples(); }
  std::int64_t features() const override { return rows_->features(); }
  DType dtype() const override { return rows_->dtype(); }
  void read(RowRange rows, void* values) const override {
    rows_->read(rows, values);
    if (good_reads_-- <= 0) fault_(values, rows.size() * features());
  }

 private:
  std::unique_ptr<RowSource> rows_;
  mutable std::atomic<int> good_reads_;
  Fault fault_;
};

/// A fault: adds 100 to each float64 value.
inline void shift_values(void* values, std::int64_t count) {
  auto* const doubles = static_cast<double*>(values);
  for (std::int64_t i = 0; i < count; ++i) doubles[i] += 100;
}

}  // namespace lloyd
