#include "data_options.hpp"

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>

#include "names.hpp"

namespace lloyd::apps {

void DataOptions::add_to(CLI::App& command) {
  command.add_option("DATA", file, "Samples: a .csv, .tsv, .txt or .npy file")->required();
  command.add_option("--delimiter", delimiter, "CSV: the character between cells, or 'tab'");
  command.add_flag("--header", header, "CSV: the first line names the columns");
  command.add_flag("--no-header", no_header, "CSV: the first line is a sample");
  command.add_option("--columns", columns, "CSV: columns to use, by name or number from 0")
      ->delimiter(',');
  command.add_option("--label-column", label_column,
                     "CSV: column with the class of each sample, by name or number");
  command.add_option("--dtype", dtype, "CSV: float32 (default) or float64");
}

CsvOptions DataOptions::csv_options() const {
  CsvOptions options;
  if (delimiter == "tab" || delimiter == "\\t") {
    options.delimiter = '\t';
  } else if (delimiter.size() == 1) {
    options.delimiter = delimiter.front();
  } else if (!delimiter.empty()) {
    throw InputError(
        fmt::format("--delimiter is '{}'; it must be one character or 'tab'", delimiter));
  }
  if (header && no_header) throw InputError("--header and --no-header exclude each other");
  if (header || no_header) options.header = header;
  options.columns = columns;
  options.label_column = label_column;
  if (!dtype.empty()) options.dtype = parse_dtype(dtype);
  return options;
}

Dataset DataOptions::read() const {
  return read_dataset(file, csv_options());
}

}  // namespace lloyd::apps
