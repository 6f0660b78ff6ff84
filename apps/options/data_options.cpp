#include "options/data_options.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>

#include "supervision/interrupt.hpp"
#include "text/names.hpp"

namespace lloyd::apps {
namespace {

// Splits a list at its commas and appends the pieces. Throws InputError for an empty piece.
void append_columns(const std::string& list, std::vector<std::string>& columns) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (begin == end) {
      throw InputError(
          fmt::format("--columns is '{}', with an empty element; names or numbers separated by "
                      "commas are needed",
                      list));
    }
    columns.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

void DataOptions::add_to(CLI::App& command) {
  command
      .add_option("DATA", file,
                  fmt::format("Samples: a {} file; text optionally as .gz",
                              enumerated(readable_extensions(), "or")))
      ->required();
  command.add_option("--delimiter", delimiter, "Text: the character between cells, or 'tab'");
  command.add_flag("--header", header, "Text: the first line names the columns");
  command.add_flag("--no-header", no_header, "Text: the first line is a sample");
  // One value per option: otherwise the parser would also take DATA, and parse brackets as a list.
  command.add_option("--columns", columns, "Text: columns to use, by name or number from 0")
      ->allow_extra_args(false);
  command.add_option("--label-column", label_column,
                     "Text: column with the class of each sample, by name or number");
  command.add_option("--dtype", dtype, "Text: float32 (default) or float64");
  command.add_option("--dataset", hdf5_dataset, "HDF5: the data set's path in the file");
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
  for (const std::string& list : columns) append_columns(list, options.columns);
  options.label_column = label_column;
  if (!dtype.empty()) options.dtype = parse_dtype(dtype);
  return options;
}

FileOptions DataOptions::file_options() const {
  const std::optional<FileFormat> format = find_format(file);
  const std::pair<bool, const char*> text_options[] = {{!delimiter.empty(), "--delimiter"},
                                                       {header, "--header"},
                                                       {no_header, "--no-header"},
                                                       {!columns.empty(), "--columns"},
                                                       {!label_column.empty(), "--label-column"}};
  for (const auto& [given, option] : text_options) {
    if (!given || !format || format == FileFormat::csv) continue;
    throw InputError(fmt::format("{} is for text files only, and {} is not one", option, file));
  }
  if (!hdf5_dataset.empty() && format && format != FileFormat::hdf5) {
    throw InputError(fmt::format("--dataset is for HDF5 files only, and {} is not one", file));
  }
  return {csv_options(), hdf5_dataset};
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
  return read_dataset(file, options);
}

std::unique_ptr<RowSource> DataOptions::open_rows() const {
  const FileOptions options = file_options();
  check_dtype();
  return lloyd::open_rows(file, options);
}

}  // namespace lloyd::apps
