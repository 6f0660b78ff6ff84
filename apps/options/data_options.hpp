// Options of every subcommand that reads a data file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lloyd/data/files.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>

#include "options/standard_input.hpp"

namespace lloyd::apps {

/// Number of rows that were left out because a column had no value in them.
struct MissingColumn {
  std::string name;  ///< as a message names the column
  std::int64_t rows = 0;
};

/// The name of a data set in results: that of its file, or "standard input".
std::string data_name(const Dataset& dataset);

/// The column that holds the classes of a data set: "'species'" or, without a name, "4". Empty if
/// there are no classes.
std::string class_column_text(const Dataset& dataset);

/// Notes on standard error that rows with missing values were left out, and the columns with most
/// missing values, if `columns` lists them; nothing if `dropped` is 0.
void note_dropped_rows(const std::string& file, std::int64_t dropped, std::int64_t kept,
                       std::vector<MissingColumn> columns = {});
/// The columns of a data set that Dataset::missing_counts counts, if any, as `name` names features
/// without a name.
std::vector<MissingColumn> missing_columns(
    const std::vector<std::int64_t>& counts, const std::vector<std::string>& feature_names,
    const std::function<std::string(std::int64_t feature)>& name);

/// Calls `body`, which reads a file that is not text, and returns its result. The message about a
/// NaN then names the option that leaves such rows out, as the message for text files does.
template <class Body>
decltype(auto) with_missing_advice(const Body& body) {
  try {
    return body();
  } catch (const MissingValueError& error) {
    throw InputError(std::string(error.what()) + "; --drop-missing leaves such rows out");
  }
}

/// Filled by the command line's parser.
struct DataOptions {
  std::string file;
  std::string delimiter;  ///< one character, "tab" or "\t"; empty: see CsvOptions
  bool header = false;
  bool no_header = false;
  std::vector<std::string> columns;  ///< lists with commas, of names or numbers from 0; empty: all
  std::vector<std::string> drop_columns;    ///< lists as above; exclusive with `columns`
  std::string label_column;                 ///< name or number; empty: none
  bool drop_missing = false;                ///< leave out rows with missing values
  std::vector<std::string> missing;         ///< lists of texts that count as missing values
  bool decimal_comma = false;               ///< read 2,5 as 2.5
  std::string thousands;                    ///< one character: read 1,234 as 1234; empty: none
  std::string dtype;                        ///< "float32" or "float64"; empty: float32 for text
  std::vector<std::string> expected_names;  ///< see CsvOptions; no option of the command line
  std::string array_name;                   ///< data set in an HDF5 file, or array in an .npz file

  /// Adds the positional DATA and the options to a subcommand.
  void add_to(CLI::App& command);

  /// If DATA is '-', replaces it by a file with a copy of standard input. Call it before the work
  /// begins. Throws as StandardInput does.
  void take_standard_input();

  /// The files that the data comes from, none of which may be written: DATA and, if that was '-',
  /// the file that standard input is redirected from. For refuse_overwriting().
  std::vector<std::filesystem::path> sources() const;

  /// Reads the file. `text_memory`: maximum bytes for reading text, see CsvOptions. Throws
  /// InputError, also for options that do not apply to the format.
  Dataset read(std::int64_t text_memory = std::numeric_limits<std::int64_t>::max()) const;

  /// Opens the file for reading in blocks, with the chosen rows and columns. Throws InputError,
  /// also for text files, and Cancelled once interrupted(). `dropped`: see complete_rows().
  std::unique_ptr<RowSource> open_rows(std::vector<std::int64_t>* dropped = nullptr) const;

  /// True if options leave out columns or rows.
  bool selects() const { return !columns.empty() || !drop_columns.empty() || drop_missing; }
  /// The chosen rows and columns of a source of another format than text. Notes on standard error
  /// how many rows were left out. Throws as open_rows().
  std::unique_ptr<RowSource> select(std::unique_ptr<RowSource> source,
                                    std::vector<std::int64_t>* dropped = nullptr) const;
  /// Number of column `feature` in the file, counted from 0, if these options name columns by
  /// number.
  std::int64_t column_of(std::int64_t feature) const;

  /// Options for reading the file. Throws InputError for options that do not apply to the format,
  /// except that --dtype is ignored for formats with a data type of their own.
  FileOptions file_options() const;

 private:
  void check_dtype() const;
  CsvOptions csv_options() const;

  std::shared_ptr<StandardInput> standard_input_;  ///< set if `file` is a copy of it
};

}  // namespace lloyd::apps
