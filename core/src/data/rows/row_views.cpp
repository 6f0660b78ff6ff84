#include <lloyd/data/row_views.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "data/rows/check_rows.hpp"
#include "data/rows/read_all.hpp"
#include "dataset/row_marks.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kTileBytes = std::int64_t{8} << 20;

std::int64_t row_bytes(const RowSource& source) {
  return source.features() * size_of(source.dtype());
}

std::int64_t tile_rows(const RowSource& source) {
  return std::max<std::int64_t>(1, kTileBytes / row_bytes(source));
}

// Base of the views: forwards all properties to the source.
class RowView : public RowSource {
 public:
  explicit RowView(std::shared_ptr<const RowSource> source) : source_(std::move(source)) {}

  const std::string& name() const override { return source_->name(); }
  std::int64_t samples() const override { return source_->samples(); }
  std::int64_t features() const override { return source_->features(); }
  DType dtype() const override { return source_->dtype(); }
  ValuePlace place_in_file(ValuePlace place) const override {
    return source_->place_in_file(place);
  }
  std::int64_t reading_bytes() const override { return source_->reading_bytes(); }
  bool reads_in_parallel() const override { return source_->reads_in_parallel(); }
  std::string touched_file() const override { return source_->touched_file(); }
  std::vector<FeatureRounding> rounding() const override { return source_->rounding(); }

 protected:
  const RowSource& source() const { return *source_; }
  // Reads rows of the source, and marks all of them when a pass comes to them for the first time:
  // marking a row takes a cache miss.
  void read_source(RowRange rows, void* values) const {
    const bool is_first = rows.begin >= read_end_.load(std::memory_order_relaxed);
    read_filled(*source_, rows, values, is_first ? MarkedRows::every : MarkedRows::last);
    if (is_first) read_end_.store(rows.end, std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<const RowSource> source_;
  mutable std::atomic<std::int64_t> read_end_{0};  // of the rows that were read in ascending order
};

class SelectedColumns : public RowView {
 public:
  SelectedColumns(std::shared_ptr<const RowSource> source, std::vector<std::int64_t> columns)
      : RowView(std::move(source)), columns_(std::move(columns)) {}

  std::int64_t features() const override { return std::ssize(columns_); }
  ValuePlace place_in_file(ValuePlace place) const override {
    return source().place_in_file({place.row, columns_[static_cast<std::size_t>(place.column)]});
  }
  std::int64_t reading_bytes() const override {
    return source().reading_bytes() + std::max(kTileBytes, row_bytes(source()));
  }
  std::vector<FeatureRounding> rounding() const override {
    const std::vector<FeatureRounding> all = source().rounding();
    std::vector<FeatureRounding> selected;
    if (all.empty()) return selected;
    for (const std::int64_t column : columns_) {
      selected.push_back(all[static_cast<std::size_t>(column)]);
    }
    return selected;
  }
  void read(RowRange rows, void* values) const override {
    check_rows(*this, rows);
    if (dtype() == DType::float32) {
      read_values(rows, static_cast<float*>(values));
    } else {
      read_values(rows, static_cast<double*>(values));
    }
  }

 private:
  template <class T>
  void read_values(RowRange rows, T* values) const {
    const std::int64_t d = source().features();
    const std::int64_t most = std::min(rows.size(), tile_rows(source()));
    std::vector<T> tile(static_cast<std::size_t>(most * d));
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += most) {
      const RowRange part{begin, std::min(begin + most, rows.end)};
      read_source(part, tile.data());
      for (std::int64_t i = 0; i < part.size(); ++i) {
        for (const std::int64_t column : columns_) *values++ = tile[i * d + column];
      }
    }
  }

  std::vector<std::int64_t> columns_;
};

// Consecutive rows of a mapping.
class SelectedMapping final : public RowMapping {
 public:
  SelectedMapping(std::unique_ptr<RowMapping> mapping, std::int64_t first, std::int64_t row_bytes)
      : mapping_(std::move(mapping)), first_(first), offset_(first * row_bytes) {}

  const void* values() const override {
    return static_cast<const char*>(mapping_->values()) + offset_;
  }
  void load(RowRange rows) const override {
    mapping_->load({first_ + rows.begin, first_ + rows.end});
  }
  void release(RowRange rows) const override {
    mapping_->release({first_ + rows.begin, first_ + rows.end});
  }

 private:
  std::unique_ptr<RowMapping> mapping_;
  std::int64_t first_;
  std::int64_t offset_;
};

class SelectedRows : public RowView {
 public:
  SelectedRows(std::shared_ptr<const RowSource> source, RowRange rows)
      : RowView(std::move(source)), rows_(rows) {}

  std::int64_t samples() const override { return rows_.size(); }
  ValuePlace place_in_file(ValuePlace place) const override {
    return source().place_in_file({rows_.begin + place.row, place.column});
  }
  void read(RowRange rows, void* values) const override {
    check_rows(*this, rows);
    source().read({rows_.begin + rows.begin, rows_.begin + rows.end}, values);
  }
  std::unique_ptr<RowMapping> map() const override {
    std::unique_ptr<RowMapping> mapping = source().map();
    if (mapping == nullptr) return nullptr;
    return std::make_unique<SelectedMapping>(std::move(mapping), rows_.begin, row_bytes(source()));
  }

 private:
  RowRange rows_;
};

class CompleteRows : public RowView {
 public:
  CompleteRows(std::shared_ptr<const RowSource> source, const StopFunction& stop,
               std::vector<std::int64_t>* dropped, std::vector<std::int64_t>* missing)
      : RowView(std::move(source)) {
    if (dtype() == DType::float32) {
      find_complete<float>(stop, dropped, missing);
    } else {
      find_complete<double>(stop, dropped, missing);
    }
    if (samples_ == 0) {
      throw InputError(fmt::format("{}: every row has a missing value, so none is left", name()));
    }
  }

  std::int64_t samples() const override { return samples_; }
  ValuePlace place_in_file(ValuePlace place) const override {
    const auto sequence = sequence_of(place.row);
    return source().place_in_file(
        {sequence->rows.begin + (place.row - sequence->first), place.column});
  }
  void read(RowRange rows, void* values) const override {
    check_rows(*this, rows);
    auto* to = static_cast<char*>(values);
    auto sequence = sequence_of(rows.begin);
    for (std::int64_t row = rows.begin; row < rows.end; ++sequence) {
      const std::int64_t begin = sequence->rows.begin + (row - sequence->first);
      const std::int64_t count = std::min(sequence->rows.end - begin, rows.end - row);
      read_filled(source(), {begin, begin + count}, to);
      to += count * row_bytes(source());
      row += count;
    }
  }

 private:
  // Consecutive rows of the source without NaN; `first` is the number of the first in this view.
  struct Sequence {
    RowRange rows;
    std::int64_t first = 0;
  };

  // The last sequence that begins at or before the row.
  std::vector<Sequence>::const_iterator sequence_of(std::int64_t row) const {
    const auto after = std::upper_bound(
        sequences_.begin(), sequences_.end(), row,
        [](std::int64_t value, const Sequence& each) { return value < each.first; });
    return after - 1;
  }

  template <class T>
  void find_complete(const StopFunction& stop, std::vector<std::int64_t>* dropped,
                     std::vector<std::int64_t>* missing) {
    const std::int64_t n = source().samples();
    const std::int64_t d = features();
    const std::int64_t most = std::min(n, tile_rows(source()));
    std::vector<T> tile(static_cast<std::size_t>(most * d));
    if (missing != nullptr) missing->assign(static_cast<std::size_t>(d), 0);
    for (std::int64_t begin = 0; begin < n; begin += most) {
      if (stop && stop()) throw Cancelled();
      const RowRange part{begin, std::min(begin + most, n)};
      read_source(part, tile.data());
      for (std::int64_t i = 0; i < part.size(); ++i) {
        const T* const row = tile.data() + i * d;
        if (std::none_of(row, row + d, [](T x) { return std::isnan(x); })) {
          add(begin + i);
          continue;
        }
        if (dropped != nullptr) dropped->push_back(begin + i);
        if (missing == nullptr) continue;
        for (std::int64_t j = 0; j < d; ++j) {
          if (std::isnan(row[j])) ++(*missing)[static_cast<std::size_t>(j)];
        }
      }
    }
  }

  void add(std::int64_t row) {
    if (sequences_.empty() || sequences_.back().rows.end != row) {
      sequences_.push_back({{row, row}, samples_});
    }
    ++sequences_.back().rows.end;
    ++samples_;
  }

  std::vector<Sequence> sequences_;
  std::int64_t samples_ = 0;
};

class StandardizedRows : public RowView {
 public:
  StandardizedRows(std::shared_ptr<const RowSource> source, Standardization map)
      : RowView(std::move(source)), map_(std::move(map)) {}

  // That of the source is in other units.
  std::vector<FeatureRounding> rounding() const override { return {}; }
  void read(RowRange rows, void* values) const override {
    check_rows(*this, rows);
    read_source(rows, values);
    if (dtype() == DType::float32) {
      map_values(rows.size(), static_cast<float*>(values));
    } else {
      map_values(rows.size(), static_cast<double*>(values));
    }
  }

 private:
  template <class T>
  void map_values(std::int64_t rows, T* values) const {
    const FloatEnvironment environment;  // a plugin may have changed the modes of this thread
    const std::size_t d = map_.mean.size();
    for (std::int64_t i = 0; i < rows; ++i, values += d) {
      for (std::size_t j = 0; j < d; ++j) {
        values[j] =
            static_cast<T>((static_cast<double>(values[j]) - map_.mean[j]) / map_.deviation[j]);
      }
    }
  }

  Standardization map_;
};

}  // namespace

std::unique_ptr<RowSource> select_columns(std::shared_ptr<const RowSource> source,
                                          std::vector<std::int64_t> columns) {
  check_source("select_columns()", source);
  if (columns.empty()) throw InputError(fmt::format("{}: no column is left", source->name()));
  for (const std::int64_t column : columns) {
    if (column >= 0 && column < source->features()) continue;
    throw InputError(fmt::format("{}: there is no column {}; the columns are 0 to {}",
                                 source->name(), column, source->features() - 1));
  }
  return std::make_unique<SelectedColumns>(std::move(source), std::move(columns));
}

std::unique_ptr<RowSource> select_rows(std::shared_ptr<const RowSource> source, RowRange rows) {
  check_source("select_rows()", source);
  check_rows(*source, rows);
  if (rows.begin == rows.end) {
    throw InputError(fmt::format("{}: the rows from {} up to {} are none; at least one is needed",
                                 source->name(), rows.begin, rows.end));
  }
  return std::make_unique<SelectedRows>(std::move(source), rows);
}

std::unique_ptr<RowSource> complete_rows(std::shared_ptr<const RowSource> source,
                                         const StopFunction& stop,
                                         std::vector<std::int64_t>* dropped,
                                         std::vector<std::int64_t>* missing) {
  check_source("complete_rows()", source);
  return std::make_unique<CompleteRows>(std::move(source), stop, dropped, missing);
}

std::unique_ptr<RowSource> standardize(std::shared_ptr<const RowSource> source,
                                       Standardization map) {
  check_source("standardize()", source);
  const auto d = static_cast<std::size_t>(source->features());
  if (map.mean.size() != d || map.deviation.size() != d) {
    throw InputError(fmt::format("{} has {}, but {} are standardized", source->name(),
                                 format_count(d, "feature"), map.mean.size()));
  }
  map.check();
  return std::make_unique<StandardizedRows>(std::move(source), std::move(map));
}

Matrix matrix_of(const RowSource& source) {
  return read_all(source);
}

Dataset dataset_of(const RowSource& source) {
  return read_whole(source);
}

}  // namespace lloyd
