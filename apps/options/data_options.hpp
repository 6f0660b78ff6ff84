// Options of every subcommand that reads a data file.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lloyd/data/files.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd::apps {

/// Filled by the command line's parser.
struct DataOptions {
  std::string file;
  std::string delimiter;  ///< one character, "tab" or "\t"; empty: see CsvOptions
  bool header = false;
  bool no_header = false;
  std::vector<std::string> columns;  ///< lists with commas, of names or numbers from 0; empty: all
  std::string label_column;          ///< name or number; empty: none
  std::string dtype;                 ///< "float32" or "float64"; empty: float32 for text
  std::string hdf5_dataset;          ///< path of the data set in an HDF5 file

  /// Adds the positional DATA and the options to a subcommand.
  void add_to(CLI::App& command);

  /// Reads the file. `text_memory`: maximum bytes for reading text, see CsvOptions. Throws
  /// InputError, also for options that do not apply to the format.
  Dataset read(std::int64_t text_memory = std::numeric_limits<std::int64_t>::max()) const;

  /// Opens the file for reading in blocks. Throws InputError, also for text files.
  std::unique_ptr<RowSource> open_rows() const;

  /// Options for reading the file. Throws InputError for options that do not apply to the format,
  /// except that --dtype is ignored for formats with a data type of their own.
  FileOptions file_options() const;

 private:
  void check_dtype() const;
  CsvOptions csv_options() const;
};

}  // namespace lloyd::apps
