// A data file within a memory limit: read as a whole, or in blocks in every pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <lloyd/data/row_source.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/fit.hpp>

#include "options/backend_options.hpp"
#include "options/data_options.hpp"

namespace lloyd::apps {

/// Filled by the command line's parser.
struct MemoryOption {
  std::optional<std::uint64_t> limit;  ///< bytes; not set: the usable memory of this process

  void add_to(CLI::App& command);
};

/// The limit of the whole process in bytes; not set: its usable memory.
std::int64_t process_memory(const std::optional<std::uint64_t>& limit);

/// Makes the allocator return freed blocks to the system, for a process that keeps to a limit.
void return_freed_memory();

/// Bytes available for reading a text file: the limit of the whole process (not set: its usable
/// memory) minus the program's own memory; at least 8 MiB.
std::int64_t text_memory(std::optional<std::uint64_t> limit = std::nullopt);

/// Throws InputError if `bytes`, needed to read `file`, exceeds text_memory(limit).
void check_reading_memory(const std::string& file, double bytes,
                          std::optional<std::uint64_t> limit);

/// The blocks of a pass for the statistics, when no limit is given.
struct StatisticsBlocks {
  std::int64_t rows = 0;  ///< per block
  double bytes = 0;       ///< peak memory of the pass
};

/// Blocks as small as the source reads well.
StatisticsBlocks plan_statistics(const RowSource& source);

/// Makes a data set that reads its values from the source in blocks; computes the statistics in one
/// pass, with progress. Throws as Dataset does, and Cancelled once interrupted().
Dataset describe_rows(std::unique_ptr<RowSource> source, std::int64_t block_rows);

struct BoundedData {
  Dataset dataset;
  std::int64_t block_rows = 0;   ///< rows per block, for BackendSession; 0: in memory
  std::int64_t window_rows = 0;  ///< rows per window, for BackendSession; 0: no windows
  std::int64_t spare_bytes = 0;  ///< host memory that the plan leaves within the limit
};

/// An open data file: name and columns are known; values are loaded by hold(). Keeps references to
/// both constructor arguments.
class BoundedFile {
 public:
  /// Reads a text file as a whole, within the limit; only opens other formats. Throws InputError.
  BoundedFile(const DataOptions& data, const MemoryOption& memory);

  const std::string& name() const { return text_ ? text_->name() : source_->name(); }
  std::int64_t samples() const { return text_ ? text_->samples() : source_->samples(); }
  std::int64_t features() const { return text_ ? text_->features() : source_->features(); }
  /// Empty if the columns have no names.
  std::vector<std::string> feature_names() const;
  /// Features that rounding distorts (text to float32, 64-bit integers to float64); none after
  /// standardize(). Integers that are rounded take a pass over the file. Throws as hold() does.
  std::vector<RoundingLoss> rounding_losses() const;

  /// Calls `body` with the samples before they are standardized: all of a text file, at most
  /// the first `rows` of any other file. Call it before standardize(). Throws as hold()
  /// does, and what `body` throws.
  void inspect(std::int64_t rows, const std::function<void(const Dataset&)>& body) const;
  /// Standardizes the samples by their own statistics, and returns the map. Files other than text
  /// are read once more for it. `inspect` receives the data set before it is standardized. Call it
  /// once, before hold(). Throws as hold() does.
  Standardization standardize(const std::function<void(const Dataset&)>& inspect);
  /// Standardizes the samples by the map of a model. Throws InputError unless the map has as many
  /// features as the file.
  void standardize(const Standardization& map);

  /// The rows of a file that is not text, to be held in another way than by hold().
  std::unique_ptr<RowSource> take_rows() { return std::move(source_); }

  /// Plans the memory of a fit with the chosen backend and returns the data, in memory or in
  /// blocks. `output_bytes`: memory for outputs that are computed from the result. Call it once.
  /// Throws InputError if the fit exceeds the limit or a value is invalid; Cancelled once
  /// interrupted().
  BoundedData hold(const ChosenBackend& chosen, const FitOptions& options,
                   std::int64_t output_bytes = 0);

 private:
  BoundedData load(const ChosenBackend& chosen, const FitOptions& options,
                   std::int64_t output_bytes);

  const DataOptions& data_;
  const MemoryOption& memory_;
  std::optional<Dataset> text_;
  std::unique_ptr<RowSource> source_;
  std::vector<std::int64_t> dropped_rows_;  ///< of source_
  std::optional<Standardization> standardization_;
};

/// Label of a row that was left out.
inline constexpr std::int32_t kNoLabel = -1;

/// Notes on standard error, if rows were left out, that an output, such as "labels", has `value`
/// for them.
void note_left_out_rows(const Dataset& dataset, std::string_view output, std::string_view value);

/// Extends one value per sample (n) to one per row of the file, with `filler` for the rows that
/// were left out for missing values. `dropped`: Dataset::dropped_row_numbers.
template <class T>
std::vector<T> in_file_rows(std::vector<T> values, const std::vector<std::int64_t>& dropped,
                            T filler) {
  if (dropped.empty()) return values;
  std::vector<T> all;
  all.reserve(values.size() + dropped.size());
  auto next = dropped.begin();
  for (const T& value : values) {
    for (; next != dropped.end() && *next == std::ssize(all); ++next) all.push_back(filler);
    all.push_back(value);
  }
  all.resize(values.size() + dropped.size(), filler);
  return all;
}

/// Notes on standard error if the peak memory of this process clearly exceeded the limit: the plan
/// relies on the backend's own estimate. No effect without the option.
void note_memory_beyond(const MemoryOption& memory, const std::string& backend);

/// Advice to append to a message that a model has `features` features and these `names` (possibly
/// none), and the data another number: the model's features that the data lacks, if both have
/// names; otherwise, if the data has more features, those that the model does not have, and
/// "; --columns ..."; else empty.
std::string advise_columns(const BoundedFile& data, std::int64_t features,
                           const std::vector<std::string>& names);

/// Features are matched by position. If both sides have names, throws InputError unless they agree
/// in order; the message has the value of --columns, or the names that are missing. `names`: those
/// of `owner`, e.g. "the model m.json".
void check_feature_names(const BoundedFile& data, const std::vector<std::string>& names,
                         const std::string& owner);

}  // namespace lloyd::apps
