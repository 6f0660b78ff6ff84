#include "options/data_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>

#include "output/file_identity.hpp"
#include "output/messages.hpp"
#include "output/output.hpp"
#include "supervision/interrupt.hpp"
#include "text/names.hpp"
#include "text/numbers.hpp"

namespace lloyd::apps {
namespace {

constexpr const char* kDropColumns = "--drop-columns";

// Splits a list at its commas and appends the pieces. Throws InputError for an empty piece, except
// in --drop-columns, where it is the name of a column without a name.
void append_columns(const std::string& option, const std::string& list,
                    std::vector<std::string>& columns) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (begin == end && option != kDropColumns) {
      throw InputError(
          fmt::format("{} is '{}', with an empty element; names or numbers separated by commas are "
                      "needed",
                      option, list));
    }
    columns.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::vector<std::string> split_lists(const std::string& option,
                                     const std::vector<std::string>& lists) {
  std::vector<std::string> columns;
  for (const std::string& list : lists) append_columns(option, list, columns);
  return columns;
}

// The numbers of columns of a file without names. Throws InputError for a text that is no number,
// and for a column that occurs twice.
std::vector<std::int64_t> column_numbers(const std::string& option, const std::string& file,
                                         const std::vector<std::string>& columns) {
  std::vector<std::int64_t> numbers;
  for (const std::string& text : columns) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) {
      throw InputError(
          fmt::format("{} has '{}'; the columns of {} have no names, so numbers from 0 are needed",
                      option, shown(text), file));
    }
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
      throw InputError(fmt::format("{}: {} has column {} twice", file, option, number));
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::string data_name(const Dataset& dataset) {
  return with_names(dataset.name());
}

std::string class_column_text(const Dataset& dataset) {
  if (dataset.classes.empty() || dataset.class_column < 0) return {};
  return dataset.class_name.empty() ? fmt::format("{}", dataset.class_column)
                                    : fmt::format("'{}'", shown(dataset.class_name));
}

void note_dropped_rows(const std::string& file, std::int64_t dropped, std::int64_t kept,
                       std::vector<MissingColumn> columns) {
  if (dropped == 0) return;
  constexpr std::size_t kMaxNamed = 5;
  std::stable_sort(columns.begin(), columns.end(),
                   [](const auto& a, const auto& b) { return a.rows > b.rows; });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(columns.size(), kMaxNamed); ++i) {
    texts.push_back(fmt::format("{} in {}", columns[i].name, columns[i].rows));
  }
  if (columns.size() > kMaxNamed) {
    texts.push_back(format_count(std::ssize(columns) - std::ssize(texts), "more column"));
  }
  note("lloyd: {}: {} of {} {} a missing value and {} left out{}{}\n", file, dropped,
       format_count(dropped + kept, "row"), dropped == 1 ? "has" : "have",
       dropped == 1 ? "was" : "were", texts.empty() ? "" : ": ", enumerated(texts, "and"));
}

std::vector<MissingColumn> missing_columns(
    const std::vector<std::int64_t>& counts, const std::vector<std::string>& feature_names,
    const std::function<std::string(std::int64_t feature)>& name) {
  std::vector<MissingColumn> columns;
  for (std::size_t j = 0; j < counts.size(); ++j) {
    if (counts[j] == 0) continue;
    const bool is_named =
        j < feature_names.size() && !feature_names[j].empty() &&
        std::count(feature_names.begin(), feature_names.end(), feature_names[j]) == 1;
    columns.push_back({is_named ? fmt::format("'{}'", shown(feature_names[j]))
                                : name(static_cast<std::int64_t>(j)),
                       counts[j]});
  }
  return columns;
}

void DataOptions::add_to(CLI::App& command) {
  command
      .add_option("DATA", file,
                  fmt::format("Samples: a {} file, text optionally as .gz; or - for standard input",
                              enumerated(readable_extensions(), "or")))
      ->required();
  command.add_option("--delimiter", delimiter, "Text: the character between cells, or 'tab'");
  command.add_flag("--header", header, "Text: the first line names the columns");
  command.add_flag("--no-header", no_header, "Text: the first line is a sample");
  auto* used = command
                   .add_option("--columns", columns,
                               "Columns to use: names or numbers from 0, as in a,b,3; classes are "
                               "then read with --label-column only")
                   ->type_name("LIST");
  command
      .add_option("--drop-columns", drop_columns,
                  "Columns to leave out, such as row numbers and identifiers, as in a,b,3 (may be "
                  "repeated)")
      ->type_name("LIST")
      ->excludes(used);
  command.add_flag(
      "--drop-missing", drop_missing,
      "Leave out rows with a missing value: NaN, or in text an empty cell, NA, ?, null");
  command.add_option("--missing", missing,
                     "Text: cells with one of these texts (or equal numbers) count as missing, "
                     "for --drop-missing: unknown,-999");
  command.add_flag("--decimal-comma", decimal_comma,
                   "Text: read 2,5 as 2.5; the delimiter is then ';' by default");
  command.add_option("--thousands", thousands,
                     "Text: the character between groups of three digits: with ',', 1,234.5 is "
                     "read as 1234.5; with '.', decimals have commas");
  command.add_option("--label-column,--labels-column", label_column,
                     "Text: column with the class of each sample, by name or number");
  command.add_option("--dtype", dtype, "Text: float32 (default) or float64")
      ->type_name("TEXT:{float32,float64}");
  command.add_option("--dataset", array_name,
                     "HDF5: the data set's path in the file; .npz: the name of the array");
}

void DataOptions::take_standard_input() {
  if (file != "-") return;
  standard_input_ = std::make_shared<StandardInput>();
  file = standard_input_->file().string();
}

std::vector<std::filesystem::path> DataOptions::sources() const {
  std::vector<std::filesystem::path> files = {file};
  if (standard_input_ && identify(STDIN_FILENO).inode != 0) files.emplace_back("/dev/stdin");
  return files;
}

CsvOptions DataOptions::csv_options() const {
  CsvOptions options;
  options.stop = interrupted;
  if (delimiter == "tab" || delimiter == "\\t") {
    options.delimiter = '\t';
  } else if (delimiter.size() == 1) {
    options.delimiter = delimiter.front();
  } else if (!delimiter.empty()) {
    throw InputError(
        fmt::format("--delimiter is '{}'; it must be one character or 'tab'", delimiter));
  }
  if (header && no_header) throw InputError("--header and --no-header cannot be given together");
  if (header || no_header) options.header = header;
  options.expected_names = expected_names;
  options.columns = split_lists("--columns", columns);
  options.drop_columns = split_lists(kDropColumns, drop_columns);
  options.drop_missing = drop_missing;
  options.missing = split_lists("--missing", missing);
  options.decimal_comma = decimal_comma;
  if (thousands.size() > 1) {
    throw InputError(fmt::format("--thousands is '{}'; it must be one character, such as ','",
                                 shown(thousands)));
  }
  if (!thousands.empty()) options.thousands = thousands.front();
  options.label_column = label_column;
  if (!dtype.empty()) options.dtype = parse_dtype(dtype);
  return options;
}

FileOptions DataOptions::file_options() const {
  const std::optional<FileFormat> format = find_format(file);
  const std::pair<bool, const char*> text_options[] = {{!delimiter.empty(), "--delimiter"},
                                                       {header, "--header"},
                                                       {no_header, "--no-header"},
                                                       {decimal_comma, "--decimal-comma"},
                                                       {!missing.empty(), "--missing"},
                                                       {!thousands.empty(), "--thousands"},
                                                       {!label_column.empty(), "--label-column"}};
  for (const auto& [given, option] : text_options) {
    if (!given || !format || format == FileFormat::csv) continue;
    throw InputError(fmt::format("{} is for text files only, and {} is not one", option, file));
  }
  if (!array_name.empty() && format && format != FileFormat::hdf5 && format != FileFormat::npz) {
    throw InputError(
        fmt::format("--dataset is for HDF5 and .npz files only, and {} is not one", file));
  }
  return {csv_options(), array_name};
}

void DataOptions::check_dtype() const {
  const std::optional<FileFormat> format = find_format(file);
  if (!dtype.empty() && format && format != FileFormat::csv) {
    throw InputError(fmt::format(
        "--dtype is for text files; {} has its own dtype, which 'lloyd data convert' changes",
        file));
  }
}

Dataset DataOptions::read(std::int64_t text_memory) const {
  FileOptions options = file_options();
  options.csv.memory_limit = text_memory;
  check_dtype();
  if (selects() && find_format(file) != FileFormat::csv) {
    const std::unique_ptr<RowSource> rows = open_rows();
    return with_missing_advice([&] { return dataset_of(*rows); });
  }
  Dataset dataset = with_missing_advice([&] { return read_dataset(file, options); });
  note_dropped_rows(
      file, dataset.dropped_rows, dataset.samples(),
      missing_columns(dataset.missing_counts, dataset.feature_names, [&](std::int64_t feature) {
        return fmt::format("column {}", column_of(feature));
      }));
  return dataset;
}

std::unique_ptr<RowSource> DataOptions::open_rows(std::vector<std::int64_t>* dropped) const {
  const FileOptions options = file_options();
  check_dtype();
  return select(lloyd::open_rows(file, options), dropped);
}

std::unique_ptr<RowSource> DataOptions::select(std::unique_ptr<RowSource> source,
                                               std::vector<std::int64_t>* dropped) const {
  const std::vector<std::int64_t> used =
      column_numbers("--columns", file, split_lists("--columns", columns));
  const std::vector<std::int64_t> unused =
      column_numbers(kDropColumns, file, split_lists(kDropColumns, drop_columns));
  if (!used.empty()) source = select_columns(std::move(source), used);
  if (!unused.empty()) {
    for (const std::int64_t column : unused) {
      if (column < source->features()) continue;
      throw InputError(fmt::format("{}: there is no column {}; the columns are 0 to {}", file,
                                   column, source->features() - 1));
    }
    std::vector<std::int64_t> rest;
    for (std::int64_t j = 0; j < source->features(); ++j) {
      if (std::find(unused.begin(), unused.end(), j) == unused.end()) rest.push_back(j);
    }
    source = select_columns(std::move(source), std::move(rest));
  }
  if (!drop_missing) return source;
  const std::int64_t all = source->samples();
  std::vector<std::int64_t> missing_counts;
  source = complete_rows(std::move(source), interrupted, dropped, &missing_counts);
  note_dropped_rows(file, all - source->samples(), source->samples(),
                    missing_columns(missing_counts, {}, [&](std::int64_t feature) {
                      return fmt::format("column {}", column_of(feature));
                    }));
  return source;
}

std::int64_t DataOptions::column_of(std::int64_t feature) const {
  const std::vector<std::string> used = split_lists("--columns", columns);
  if (feature < std::ssize(used)) {
    std::int64_t number = -1;
    const std::string& text = used[static_cast<std::size_t>(feature)];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : feature;
  }
  std::vector<std::string> left_out = split_lists(kDropColumns, drop_columns);
  left_out.push_back(label_column);
  std::int64_t column = 0;
  for (;; ++column) {
    const bool is_feature =
        std::find(left_out.begin(), left_out.end(), std::to_string(column)) == left_out.end();
    if (is_feature && feature-- == 0) return column;
  }
}

}  // namespace lloyd::apps
