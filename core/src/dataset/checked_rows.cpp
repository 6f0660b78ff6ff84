#include "dataset/checked_rows.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "dataset/fingerprint.hpp"
#include "dataset/row_marks.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kMinStep = 256;
constexpr std::int64_t kMaxHashes = 1024;

}  // namespace

RowHashes::RowHashes(std::int64_t samples, std::int64_t features, DType dtype)
    : features_(features),
      dtype_(dtype),
      step_(std::max(kMinStep, (samples - 1) / kMaxHashes + 1)),
      hashes_(static_cast<std::size_t>((samples - 1) / step_ + 1)) {}

// Calls body(index, hash) for the hashed rows among `rows`.
template <class Body>
void RowHashes::for_each_hash(RowRange rows, const void* values, const Body& body) const {
  const std::int64_t row_bytes = features_ * size_of(dtype_);
  for (std::int64_t i = (rows.begin + step_ - 1) / step_; i * step_ < rows.end; ++i) {
    Fingerprint hash(1, features_, dtype_);
    const std::int64_t offset = (i * step_ - rows.begin) * row_bytes;
    hash.add(static_cast<const std::byte*>(values) + offset, features_, 1);
    body(static_cast<std::size_t>(i), hash.value());
  }
}

void RowHashes::store(RowRange rows, const void* values) {
  for_each_hash(rows, values, [this](std::size_t i, std::uint64_t hash) { hashes_[i] = hash; });
}

bool RowHashes::changed(RowRange rows, const void* values) const {
  bool changed = false;
  for_each_hash(rows, values,
                [&](std::size_t i, std::uint64_t hash) { changed |= hash != hashes_[i]; });
  return changed;
}

std::string changed_file_text(const std::string& file) {
  return fmt::format("{}: the file was changed while it was in use", file);
}

std::string changed_rows_text(const std::string& name) {
  return fmt::format(
      "{}: the source of rows returned values that differ from those of its first pass; it must "
      "return the same rows in every pass",
      name);
}

class CheckedRows::Mapping final : public RowMapping {
 public:
  Mapping(const CheckedRows& rows, std::unique_ptr<RowMapping> mapping)
      : rows_(rows), mapping_(std::move(mapping)) {}

  const void* values() const override { return mapping_->values(); }
  void load(RowRange rows) const override {
    mapping_->load(rows);
    const std::int64_t offset = rows.begin * rows_.features() * size_of(rows_.dtype());
    rows_.check(rows, static_cast<const std::byte*>(values()) + offset);
  }
  void release(RowRange rows) const override { mapping_->release(rows); }

 private:
  const CheckedRows& rows_;
  std::unique_ptr<RowMapping> mapping_;
};

void CheckedRows::read(RowRange rows, void* values) const {
  read_filled(*source_, rows, values);  // a row without values is not a changed one
  check(rows, values);
}

std::unique_ptr<RowMapping> CheckedRows::map() const {
  std::unique_ptr<RowMapping> mapping = source_->map();
  if (mapping == nullptr) return nullptr;
  return std::make_unique<Mapping>(*this, std::move(mapping));
}

void CheckedRows::check(RowRange rows, const void* values) const {
  if (!hashes_.changed(rows, values)) return;
  const std::string touched = source_->touched_file();
  throw InputError(touched.empty() ? changed_rows_text(name()) : changed_file_text(touched));
}

}  // namespace lloyd
