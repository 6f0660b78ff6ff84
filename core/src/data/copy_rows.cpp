#include <lloyd/data/copy_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/row_writer.hpp>
#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "data/csv/csv_rows.hpp"
#include "dataset/row_marks.hpp"
#include "dataset/statistics_pass.hpp"

namespace lloyd {
namespace {

std::int64_t block_rows(std::int64_t features) {
  constexpr std::int64_t kBlockValues = std::int64_t{1} << 20;
  return std::max<std::int64_t>(1, kBlockValues / features);
}

// Number of rows of d features in CopiedRows::first_rows.
std::int64_t max_first_rows(std::int64_t features) {
  constexpr std::int64_t kMaxRows = 1000;
  constexpr std::int64_t kMinRows = 10;
  return std::clamp(block_rows(features), kMinRows, kMaxRows);
}

void tell(const CopyOptions& options, std::int64_t rows, double part) {
  if (options.progress && !options.progress(rows, part)) throw Cancelled();
}

// "points.npy: row 3, column 0 (counted from 0) is 1e-50"; the place is that in the source.
std::string value_text(const RowSource& source, ValuePlace place, double value) {
  place = source.place_in_file(place);
  return fmt::format("{}: row {}, column {} (counted from 0) is {}", source.name(), place.row,
                     place.column, value);
}

[[noreturn]] void fail_value(const RowSource& source, ValuePlace place, double value) {
  const std::string text = value_text(source, place, value);
  if (std::isfinite(value)) throw InputError(text + ", beyond the range of float32");
  const std::string message = text + "; all values must be finite";
  if (std::isnan(value)) throw MissingValueError(message);
  throw InputError(message);
}

// Detects columns that become all zeros in float32, as CsvRows does for text.
class VanishedColumns {
 public:
  explicit VanishedColumns(std::int64_t features) : columns_(static_cast<std::size_t>(features)) {}

  void add(std::int64_t row, std::size_t column, double from, double to) {
    if (from == 0) return;
    Column& seen = columns_[column];
    if (to != 0) {
      seen.has_nonzero = true;
    } else if (seen.row < 0) {
      seen.row = row;
      seen.value = from;
    }
  }
  // Call it after the last row. Throws InputError for such a column.
  void check(const RowSource& source) const {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (columns_[j].row < 0 || columns_[j].has_nonzero) continue;
      throw InputError(
          value_text(source, {columns_[j].row, static_cast<std::int64_t>(j)}, columns_[j].value) +
          ", too small for float32, like all other nonzero values of the column; set "
          "the dtype option to float64");
    }
  }

 private:
  struct Column {
    bool has_nonzero = false;
    std::int64_t row = -1;  // first row whose value became zero
    double value = 0;
  };
  std::vector<Column> columns_;
};

// The nearest value of the type; nullopt if it is infinite, or `value` not a number.
template <class To>
std::optional<To> round_to(double value) {
  constexpr double kMax = std::numeric_limits<To>::max();
  const double size = std::fabs(value);
  if (size <= kMax) return static_cast<To>(value);
  // Converting a value beyond the range is undefined. Below the midpoint to the next power of two
  // it rounds to the largest value.
  if (sizeof(To) == sizeof(float) && size < 0x1.ffffffp127) {
    return static_cast<To>(std::copysign(kMax, value));
  }
  return std::nullopt;
}

// Converts a block to the output type; `first` is the number of its first row.
template <class To, class From>
void convert(const RowSource& source, std::int64_t first, const std::vector<From>& from,
             std::vector<To>& to, VanishedColumns& vanished) {
  const std::int64_t features = source.features();
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::optional<To> rounded = round_to<To>(static_cast<double>(from[i]));
    if (!rounded) {
      const auto at = static_cast<std::int64_t>(i);
      fail_value(source, {first + at / features, at % features}, static_cast<double>(from[i]));
    }
    to[i] = *rounded;
    if constexpr (sizeof(To) < sizeof(From)) {
      const auto at = static_cast<std::int64_t>(i);
      vanished.add(first + at / features, i % static_cast<std::size_t>(features), from[i], to[i]);
    }
  }
}

// Returns false if the system has no resources for another thread.
template <class Work>
bool start_thread(std::vector<std::jthread>& threads, const Work& work) {
  try {
    threads.emplace_back(work);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// Reads rows with `threads` threads, one piece for each.
void read_rows(const RowSource& source, RowRange rows, void* values, std::int64_t threads) {
  const std::int64_t row_bytes = source.features() * size_of(source.dtype());
  const std::int64_t piece = (rows.size() + threads - 1) / threads;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> workers;
    for (std::int64_t t = 0; t < threads; ++t) {
      const RowRange part{std::min(rows.end, rows.begin + t * piece),
                          std::min(rows.end, rows.begin + (t + 1) * piece)};
      const auto read = [&source, &errors, part, t,
                         to = static_cast<char*>(values) + (part.begin - rows.begin) * row_bytes] {
        try {
          read_filled(source, part, to);
        } catch (...) {
          errors[static_cast<std::size_t>(t)] = std::current_exception();
        }
      };
      if (t + 1 == threads || !start_thread(workers, read)) read();
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

template <class From, class To>
CopiedRows copy_source(const RowSource& source, RowWriter& writer, const CopyOptions& options) {
  const std::int64_t n = source.samples();
  const std::int64_t d = source.features();
  const std::int64_t most = block_rows(d);
  std::vector<From> values;
  std::vector<To> converted;
  VanishedColumns vanished(sizeof(To) < sizeof(From) ? d : 0);
  const std::vector<FeatureRounding> rounding = source.rounding();
  StatisticsPass statistics(source.name(), n, d, source.dtype());
  for (std::int64_t begin = 0; begin < n; begin += most) {
    const RowRange rows{begin, std::min(begin + most, n)};
    values.resize(static_cast<std::size_t>(rows.size() * d));
    read_rows(source, rows, values.data(), std::max<std::int64_t>(1, options.threads));
    convert(source, begin, values, converted, vanished);
    if (!rounding.empty()) statistics.add(values.data(), d, rows.size());
    writer.write(converted.data(), rows.size());
    tell(options, rows.end, static_cast<double>(rows.end) / static_cast<double>(n));
  }
  vanished.check(source);
  writer.commit();
  CopiedRows copied{n, d};
  if (!rounding.empty()) {
    copied.rounding_losses = rounding_losses(rounding, statistics.statistics());
  }
  return copied;
}

template <class T>
CopiedRows copy_text(CsvRows& rows, RowWriter& writer, const CopyOptions& options) {
  const std::int64_t d = rows.columns().features;
  PageBuffer<T> values;
  std::vector<std::string> classes;
  std::int64_t n = 0;
  StatisticsPass statistics("", 0, d, DType::float32);
  std::vector<double> first_rows;
  for (std::int64_t count = block_rows(d); count == block_rows(d); n += count) {
    values.clear();
    classes.clear();
    rows.forget_classes();
    count = rows.read(block_rows(d), values, classes);
    writer.write(values.data(), count, classes);
    const std::int64_t kept = std::clamp<std::int64_t>(max_first_rows(d) - n, 0, count);
    first_rows.insert(first_rows.end(), values.data(), values.data() + kept * d);
    if constexpr (std::is_same_v<T, float>) statistics.add(values.data(), d, count);
    tell(options, n + count, rows.fraction());
  }
  writer.commit();
  CopiedRows copied{n, d, rows.dropped()};
  if constexpr (std::is_same_v<T, float>) {
    copied.rounding_losses = rounding_losses(rows.rounding(), statistics.statistics());
  }
  copied.feature_names = rows.columns().feature_names;
  copied.has_classes = rows.columns().has_label;
  copied.first_rows = std::move(first_rows);
  copied.unused_missing = rows.unused_missing();
  return copied;
}

}  // namespace

CopiedRows copy_rows(const RowSource& source, const std::filesystem::path& output,
                     const CopyOptions& options) {
  const FloatEnvironment environment;
  const DType to = options.dtype.value_or(source.dtype());
  const auto writer =
      create_rows(output, {.features = source.features(), .dtype = to, .rows = source.samples()});
  if (source.dtype() == DType::float32) {
    return to == DType::float32 ? copy_source<float, float>(source, *writer, options)
                                : copy_source<float, double>(source, *writer, options);
  }
  return to == DType::float32 ? copy_source<double, float>(source, *writer, options)
                              : copy_source<double, double>(source, *writer, options);
}

CopiedRows copy_file(const std::filesystem::path& file, const FileOptions& input,
                     const std::filesystem::path& output, const CopyOptions& options) {
  if (find_format(file) != FileFormat::csv) {
    return copy_rows(*open_rows(file, input), output, options);
  }
  const FloatEnvironment environment;
  CsvOptions csv = input.csv;
  csv.dtype = options.dtype.value_or(csv.dtype);
  CsvRows rows(file, csv);
  const auto writer = create_rows(output, {.features = rows.columns().features,
                                           .dtype = csv.dtype,
                                           .feature_names = rows.columns().feature_names,
                                           .has_classes = rows.columns().has_label,
                                           .class_name = rows.columns().label_name});
  return csv.dtype == DType::float32 ? copy_text<float>(rows, *writer, options)
                                     : copy_text<double>(rows, *writer, options);
}

}  // namespace lloyd
