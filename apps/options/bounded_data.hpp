// A data file within a limit of memory: read as a whole, or block by block in every pass.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lloyd/data/row_source.hpp>
#include <lloyd/fit.hpp>

#include "options/backend_options.hpp"
#include "options/data_options.hpp"

namespace lloyd::apps {

/// Filled by the command line's parser.
struct MemoryOption {
  std::optional<std::uint64_t> limit;  ///< bytes; not set: what the machine lets this process use

  void add_to(CLI::App& command);
};

/// Bytes that a text may take while it is read, within such a limit for the whole process; without
/// one, what the machine lets this process use.
std::int64_t text_memory(std::optional<std::uint64_t> limit = std::nullopt);

/// Throws InputError where reading `file` takes more `bytes` than text_memory(limit).
void check_reading_memory(const std::string& file, double bytes,
                          std::optional<std::uint64_t> limit);

/// The data set whose values are left where the source reads them from, with progress. Throws as
/// Dataset does, and Cancelled on interruption.
Dataset describe_rows(std::unique_ptr<RowSource> source, std::int64_t block_rows);

struct BoundedData {
  Dataset dataset;
  std::int64_t block_rows = 0;  ///< for OpenSession; 0: in memory
};

/// A data file that is open, but not yet held: what it is called and what its columns are is known.
class BoundedFile {
 public:
  /// Reads text as a whole, within the limit; opens other files only. Throws InputError.
  BoundedFile(const DataOptions& data, const MemoryOption& memory);

  const std::string& name() const { return text_ ? text_->name() : source_->name(); }
  std::int64_t features() const { return text_ ? text_->features() : source_->features(); }
  /// Empty where they have no names.
  std::vector<std::string> feature_names() const;

  /// The data for such a fit with the chosen backend, within the limit; once. Throws InputError
  /// when that does not fit, or for a bad value; Cancelled on interruption.
  BoundedData hold(const ChosenBackend& chosen, const FitOptions& options);

 private:
  const DataOptions& data_;
  const MemoryOption& memory_;
  std::optional<Dataset> text_;
  std::unique_ptr<RowSource> source_;
};

/// Says on standard error where this process has held clearly more memory than the option allows:
/// plans take the word of the backend for what it needs. Nothing without the option.
void note_memory_beyond(const MemoryOption& memory, const std::string& backend);

/// Features are told apart by their place alone; where both sides name them, the names must agree.
/// `names` are those of `owner`, such as "the model m.json". Throws InputError.
void check_feature_names(const BoundedFile& data, const std::vector<std::string>& names,
                         const std::string& owner);

}  // namespace lloyd::apps
