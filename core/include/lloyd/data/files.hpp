// Reads and writes data files; the extension gives the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lloyd/data/csv.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/plugin_folder.hpp>

namespace lloyd {

/// File formats. `csv` is text: .csv, .tsv and .txt, each also compressed by gzip with .gz
/// appended; `fvecs` is .fvecs and .bvecs; `hdf5` is .h5 and .hdf5.
enum class FileFormat { csv, npy, npz, fvecs, hdf5 };

/// The extension with its dot, in lower case; for a name that ends in .gz, together with the
/// extension before it: ".csv.gz".
std::string lower_case_extension(const std::filesystem::path& file);

/// The format of a file by its extension, in lower or upper case; empty if it is unknown.
std::optional<FileFormat> find_format(const std::filesystem::path& file);

/// The extensions that read_dataset() knows, with their dots, without those of compressed text.
std::vector<std::string> readable_extensions();
/// The extensions that create_rows() knows.
std::vector<std::string> writable_extensions();

/// Options for reading a file. Options of other formats are ignored.
struct FileOptions {
  CsvOptions csv = {};  ///< options for text
  /// The path of the data set in an HDF5 file, see read_hdf5(), or the name of the array in an .npz
  /// file.
  std::string array_name = {};
};

/// Reads a file. All formats but text keep their own dtype; see docs/file_formats.md for those that
/// are memory-mapped: these must not be truncated while the data set is used, see Dataset. Throws
/// InputError for an unknown extension or an invalid file.
Dataset read_dataset(const std::filesystem::path& file, const FileOptions& options = {});

/// Opens a file to read it block by block. Throws InputError for an unknown extension, an invalid
/// file, and text, which does not allow random access.
std::unique_ptr<RowSource> open_rows(const std::filesystem::path& file,
                                     const FileOptions& options = {});

/// Writes a data set in the format of the extension, block by block if it is not in memory. .fvecs
/// needs float32: copy_rows() rounds other values (CopyOptions::dtype). Throws
/// InputError for classes or feature names of the wrong number, a data set that was moved from or
/// is in device memory, and what create_rows() and the data set's source throw.
void write_dataset(const std::filesystem::path& file, const Dataset& dataset);
/// Writes rows x columns values as .csv or .npy (float64), by extension; `header` names the columns
/// of a .csv.
void write_matrix(const std::filesystem::path& file, std::span<const double> values,
                  std::int64_t columns, std::span<const std::string> header = {});
/// Writes n values as a .csv of one column, or as .npy (float64) of one dimension, by extension.
void write_vector(const std::filesystem::path& file, std::span<const double> values);
/// Throws InputError unless the disk has space for such files of this many values; see
/// require_space().
void require_matrix_space(const std::filesystem::path& file, std::int64_t values);
/// Writes labels as .csv or .npy, by extension.
void write_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels);
/// Throws InputError unless the disk has space for a file of this many labels; see require_space().
void require_labels_space(const std::filesystem::path& file, std::int64_t labels);

}  // namespace lloyd
