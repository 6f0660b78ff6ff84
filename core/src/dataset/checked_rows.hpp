// CheckedRows: a source of rows that throws if some rows have other values than in the first pass.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lloyd/data/row_source.hpp>

namespace lloyd {

/// Hashes of every step-th row, beginning with row 0. The step is the smallest value >= 256 with at
/// most 1024 hashed rows, so that hashing takes less than 1 % of the time of reading. A change of
/// `step` adjacent rows is detected. If a fraction f of the rows changes independently of the step,
/// it is missed with probability (1 - f)^m, where m is the number of hashed rows.
class RowHashes {
 public:
  RowHashes(std::int64_t samples, std::int64_t features, DType dtype);

  /// Stores the hashes of rows, whose values are row-major without gaps.
  void store(RowRange rows, const void* values);
  /// True if one of the rows has another hash than the stored one.
  bool changed(RowRange rows, const void* values) const;

 private:
  template <class Body>
  void for_each_hash(RowRange rows, const void* values, const Body& body) const;

  std::int64_t features_;
  DType dtype_;
  std::int64_t step_;
  std::vector<std::uint64_t> hashes_;
};

/// The message about the changed rows of a source that is not a file.
std::string changed_rows_text(const std::string& name);
/// The message about a changed file.
std::string changed_file_text(const std::string& file);

/// Forwards to another source, and throws InputError if the hash of a row that was read differs
/// from the stored one.
class CheckedRows final : public RowSource {
 public:
  CheckedRows(std::shared_ptr<const RowSource> source, RowHashes hashes)
      : source_(std::move(source)), hashes_(std::move(hashes)) {}

  const std::string& name() const override { return source_->name(); }
  std::int64_t samples() const override { return source_->samples(); }
  std::int64_t features() const override { return source_->features(); }
  DType dtype() const override { return source_->dtype(); }
  ValuePlace place_in_file(ValuePlace place) const override {
    return source_->place_in_file(place);
  }
  void read(RowRange rows, void* values) const override;
  std::int64_t reading_bytes() const override { return source_->reading_bytes(); }
  bool reads_in_parallel() const override { return source_->reads_in_parallel(); }
  /// Must not outlive this source.
  std::unique_ptr<RowMapping> map() const override;
  std::string touched_file() const override { return source_->touched_file(); }
  std::vector<FeatureRounding> rounding() const override { return source_->rounding(); }

 private:
  class Mapping;
  void check(RowRange rows, const void* values) const;

  std::shared_ptr<const RowSource> source_;
  RowHashes hashes_;
};

}  // namespace lloyd
