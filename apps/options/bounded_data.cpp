#include "options/bounded_data.hpp"

#include <malloc.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/data/row_views.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/shell_word.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/memory_plan.hpp>

#include "machine/system/memory.hpp"
#include "output/output.hpp"
#include "process/sanitizer.hpp"
#include "progress/rows_progress.hpp"
#include "supervision/interrupt.hpp"
#include "text/names.hpp"
#include "text/numbers.hpp"
#include "text/whole_number.hpp"

namespace lloyd::apps {

std::int64_t process_memory(const std::optional<std::uint64_t>& limit) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  if (limit) return static_cast<std::int64_t>(std::min<std::uint64_t>(*limit, kMax));
  const std::int64_t usable =
      machine::usable_memory(machine::read_memory(), machine::read_cgroup_limits());
  return usable > 0 ? usable : kMax;
}

void return_freed_memory() {
  // glibc's adaptive threshold keeps freed chunks of up to 32 MiB in the heap, for each block and
  // thread. A fixed threshold returns them to the system.
#ifdef M_MMAP_THRESHOLD
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void MemoryOption::add_to(CLI::App& command) {
  command
      .add_option(
          "--memory-limit", limit,
          "Limit of host memory, e.g. 4GiB; data that does not fit is read in blocks on every "
          "pass (default: the machine's memory)")
      ->transform(byte_count());
}

std::int64_t text_memory(std::optional<std::uint64_t> limit) {
  // Minimum even if the limit is below the program's own memory: enough to report the memory that a
  // fit would need.
  constexpr std::int64_t kMinBytes = std::int64_t{8} << 20;
  return std::max(kMinBytes, process_memory(limit) - kProgramBytes);
}

void check_reading_memory(const std::string& file, double bytes,
                          std::optional<std::uint64_t> limit) {
  const std::int64_t most = text_memory(limit);
  if (bytes <= static_cast<double>(most)) return;
  const auto needed = static_cast<std::int64_t>(std::min(bytes, 0x1p62));
  throw InputError(fmt::format("{}: reading it takes {} of memory, and {} are left", file,
                               experiment::format_bytes(needed), experiment::format_bytes(most)));
}

StatisticsBlocks plan_statistics(const RowSource& source) {
  const std::int64_t row_bytes = source.features() * size_of(source.dtype());
  // A compressed part is unpacked as a whole for each block that touches it, so a block is at least
  // as large as one. Reading holds both forms of a part.
  constexpr std::int64_t kMinBlockBytes = std::int64_t{8} << 20;
  const std::int64_t unpacking_bytes = source.reading_bytes();
  const std::int64_t block_bytes = std::max(kMinBlockBytes, unpacking_bytes / 2);
  const std::int64_t rows = std::min(source.samples(), (block_bytes - 1) / row_bytes + 1);
  const int buffers = rows < source.samples() ? 2 : 1;  // as RowBlocks holds them
  return {rows, buffers * static_cast<double>(rows) * static_cast<double>(row_bytes) +
                    static_cast<double>(unpacking_bytes)};
}

Dataset describe_rows(std::unique_ptr<RowSource> source, std::int64_t block_rows) {
  RowsProgress progress("read for statistics");
  const auto samples = static_cast<double>(source->samples());
  return with_missing_advice([&] {
    return Dataset(std::move(source), block_rows, [&](std::int64_t read) {
      return !progress.update(read, static_cast<double>(read) / samples);
    });
  });
}

BoundedFile::BoundedFile(const DataOptions& data, const MemoryOption& memory)
    : data_(data), memory_(memory) {
  if (find_format(data.file) == FileFormat::csv) {
    return_freed_memory();
    text_ = data.read(text_memory(memory.limit));
  } else {
    source_ = data.open_rows(&dropped_rows_);
  }
}

void BoundedFile::inspect(std::int64_t rows,
                          const std::function<void(const Dataset&)>& body) const {
  if (text_) {
    body(*text_);
    return;
  }
  const StatisticsBlocks blocks = plan_statistics(*source_);
  check_reading_memory(name(), blocks.bytes, memory_.limit);
  const std::shared_ptr<const RowSource> borrowed(std::shared_ptr<void>(), source_.get());
  body(with_missing_advice([&] {
    return Dataset(select_rows(borrowed, {0, std::min(rows, samples())}), blocks.rows,
                   [](std::int64_t) { return interrupted(); });
  }));
}

Standardization BoundedFile::standardize(const std::function<void(const Dataset&)>& inspect) {
  if (text_) {
    inspect(*text_);
    standardize(Standardization::of(text_->statistics()));
  } else {
    const StatisticsBlocks blocks = plan_statistics(*source_);
    check_reading_memory(name(), blocks.bytes, memory_.limit);
    const Dataset described = describe_rows(std::move(source_), blocks.rows);
    inspect(described);
    standardization_ = Standardization::of(described.statistics());
    source_ = lloyd::standardize(described.source(), *standardization_);
  }
  return *standardization_;
}

void BoundedFile::standardize(const Standardization& map) {
  standardization_ = map;
  if (!text_) {
    source_ = lloyd::standardize(std::move(source_), map);
    return;
  }
  const double bytes = static_cast<double>(text_->samples()) *
                       static_cast<double>(text_->features() * size_of(text_->dtype()));
  check_reading_memory(name(), 2 * bytes, memory_.limit);
  const auto rows = lloyd::standardize(rows_of(text_->name(), text_->matrix()), map);
  Dataset mapped(text_->name(), matrix_of(*rows));
  mapped.classes = std::move(text_->classes);
  mapped.class_column = text_->class_column;
  mapped.class_name = std::move(text_->class_name);
  mapped.feature_names = std::move(text_->feature_names);
  mapped.dropped_rows = text_->dropped_rows;
  mapped.dropped_row_numbers = std::move(text_->dropped_row_numbers);
  text_.emplace(std::move(mapped));
}

std::vector<std::string> BoundedFile::feature_names() const {
  return text_ ? text_->feature_names : std::vector<std::string>();
}

std::vector<RoundingLoss> BoundedFile::rounding_losses() const {
  if (text_) return lloyd::rounding_losses(text_->rounding, text_->statistics());
  if (source_->rounding().empty()) return {};
  const StatisticsBlocks blocks = plan_statistics(*source_);
  check_reading_memory(name(), blocks.bytes, memory_.limit);
  const std::shared_ptr<const RowSource> borrowed(std::shared_ptr<void>(), source_.get());
  const Dataset described(borrowed, blocks.rows, [](std::int64_t) { return interrupted(); });
  return lloyd::rounding_losses(described.rounding, described.statistics());
}

BoundedData BoundedFile::hold(const ChosenBackend& chosen, const FitOptions& options,
                              std::int64_t output_bytes) {
  BoundedData data = load(chosen, options, output_bytes);
  if (!dropped_rows_.empty()) {
    data.dataset.dropped_rows = std::ssize(dropped_rows_);
    data.dataset.dropped_row_numbers = std::move(dropped_rows_);
  }
  return data;
}

BoundedData BoundedFile::load(const ChosenBackend& chosen, const FitOptions& options,
                              std::int64_t output_bytes) {
  const std::int64_t limit = process_memory(memory_.limit);
  const auto plan = [&](const ProblemShape& shape) {
    return plan_memory(name(), *chosen.backend, shape, chosen.parameters, options, limit, !text_,
                       text_ ? 0 : source_->reading_bytes(), output_bytes);
  };
  if (text_) {
    const MemoryPlan planned = plan(make_shape(*text_, options.clusters));
    return {std::move(*text_), 0, 0, limit - planned.bytes};
  }
  ProblemShape shape;
  shape.samples = source_->samples();
  shape.features = shape.stride = source_->features();
  shape.clusters = options.clusters;
  shape.dtype = source_->dtype();
  const MemoryPlan planned = plan(shape);
  if (planned.block_rows == 0) {
    // A compressed array was unpacked when it was opened; reading the file would do that again.
    const bool is_unpacked = find_format(data_.file) == FileFormat::npz;
    Dataset whole = standardization_ || data_.selects() || is_unpacked
                        ? with_missing_advice([&] { return dataset_of(*source_); })
                        : data_.read();
    if (whole.samples() != shape.samples || whole.features() != shape.features) {
      throw InputError(fmt::format("{}: the file was replaced while it was opened", data_.file));
    }
    whole.rounding = source_->rounding();
    return {std::move(whole), 0, 0, limit - planned.bytes};
  }
  note("{} is read in blocks of {}{}, to stay within {} of memory\n", data_.file,
       format_count(planned.block_rows, "sample"),
       planned.window_rows == 0
           ? ""
           : fmt::format(" (by the fit, in windows of {})", planned.window_rows),
       experiment::format_bytes(limit));
  return_freed_memory();
  return {describe_rows(std::move(source_), planned.block_rows), planned.block_rows,
          planned.window_rows, limit - planned.bytes};
}

void note_left_out_rows(const Dataset& dataset, std::string_view output, std::string_view value) {
  if (dataset.dropped_rows == 0) return;
  note("lloyd: the {} have an entry for every row of the file: {} for the {} left out\n", output,
       value, dataset.dropped_rows);
}

void note_memory_beyond(const MemoryOption& memory, const std::string& backend) {
  if (!memory.limit || is_sanitized()) return;
  const std::int64_t limit = process_memory(memory.limit);
  const std::int64_t peak = machine::peak_memory();
  // Tolerance of a quarter: plans are accurate to some megabytes, and runtimes may use more than
  // planned.
  if (peak - kProgramBytes <= limit + limit / 4) return;
  note(
      "lloyd: peak memory was {}, above --memory-limit {}: the backend '{}' seems to use more than "
      "it estimates\n",
      experiment::format_bytes(peak), experiment::format_bytes(limit), backend);
}

namespace {

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

// Value of --columns that selects these names, quoted for a shell; empty if it cannot be expressed.
std::string columns_option(const std::vector<std::string>& names) {
  // Of columns with the same name, --columns takes only numbers.
  const std::vector<std::string> ordered = sorted(names);
  if (std::adjacent_find(ordered.begin(), ordered.end()) != ordered.end()) return {};
  constexpr std::size_t kMaxTextBytes = 500;
  std::string list = fmt::format("{}", fmt::join(names, ","));
  const bool divides = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.empty() || name.find(',') != std::string::npos;
  });
  // The parser would take a leading hyphen for an option.
  if (divides || list.size() > kMaxTextBytes || list.starts_with('-')) return {};
  // Other characters are shown differently in a message.
  return printable(list) == list ? shell_word(list) : std::string();
}

std::vector<std::string> missing_names(const std::vector<std::string>& needed,
                                       const std::vector<std::string>& given) {
  std::vector<std::string> missing;
  for (const std::string& name : needed) {
    if (std::find(given.begin(), given.end(), name) == given.end()) missing.push_back(name);
  }
  return missing;
}

// The first of the names, quoted, and how many follow.
std::string abbreviated_list(const std::vector<std::string>& names, const char* conjunction) {
  constexpr std::size_t kMaxNames = 5;
  constexpr std::size_t kMaxNameBytes = 60;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    texts.push_back(fmt::format("'{}'", shown(names[i], kMaxNameBytes)));
  }
  if (names.size() > kMaxNames) {
    texts.push_back(fmt::format("{} more", names.size() - kMaxNames));
  }
  return enumerated(texts, conjunction);
}

std::string missing_names_text(const std::vector<std::string>& names) {
  return fmt::format(
      "; no feature is called {}, so add the column, or correct its name if it is there by "
      "another",
      abbreviated_list(names, "or"));
}

// `further`: names that the data has in addition; empty if it repeats names of the model.
std::string further_names_text(const std::vector<std::string>& needed,
                               const std::vector<std::string>& further) {
  return fmt::format(
      "; the model knows {}{}", abbreviated_list(needed, "and"),
      further.empty() ? "" : fmt::format(", but not {}", abbreviated_list(further, "and")));
}

}  // namespace

std::string advise_columns(const BoundedFile& data, std::int64_t features,
                           const std::vector<std::string>& names) {
  const std::vector<std::string> given = utf8_texts(data.feature_names());
  const std::vector<std::string> needed = utf8_texts(names);
  const std::vector<std::string> lacking = missing_names(needed, given);
  if (!given.empty() && !lacking.empty()) return missing_names_text(lacking);
  if (data.features() <= features) return {};
  if (given.empty()) {
    return fmt::format("; --columns with numbers, counted from 0, chooses those that are {}",
                       needed.empty() ? "the model's features" : abbreviated_list(needed, "and"));
  }
  if (needed.empty()) return "; --columns chooses the columns that are the model's features";
  const std::string option = columns_option(needed);
  return further_names_text(needed, missing_names(given, needed)) +
         (option.empty() ? "; --columns chooses the model's features"
                         : fmt::format("; --columns {} chooses the model's features", option));
}

void check_feature_names(const BoundedFile& data, const std::vector<std::string>& names,
                         const std::string& owner) {
  constexpr std::size_t kMaxNameBytes = 100;
  const std::vector<std::string> needed = utf8_texts(names);
  const std::vector<std::string> columns = data.feature_names();
  const std::vector<std::string> given = utf8_texts(columns);
  if (needed.size() != given.size() || needed.empty() || needed == given) return;
  const auto at = std::mismatch(needed.begin(), needed.end(), given.begin());
  std::string advice;
  if (sorted(needed) == sorted(columns)) {
    const std::string option = columns_option(needed);
    advice = option.empty()
                 ? fmt::format("; the features are those of {} in another order", owner)
                 : fmt::format("; --columns {} gives the features the order of {}", option, owner);
  } else if (const auto lacking = missing_names(needed, given); !lacking.empty()) {
    advice = missing_names_text(lacking);
  }
  throw InputError(fmt::format(
      "feature {} of {} is '{}', but that of {} is '{}'{}", at.first - needed.begin(), data.name(),
      shown(*at.second, kMaxNameBytes), owner, shown(*at.first, kMaxNameBytes), advice));
}

}  // namespace lloyd::apps
