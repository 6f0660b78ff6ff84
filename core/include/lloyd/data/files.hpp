// Data files by their extension.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <lloyd/data/csv.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd {

/// Formats that are read. `csv` is text: .csv, .tsv and .txt, each also in gzip, with .gz behind;
/// `fvecs` is .fvecs and .bvecs, `hdf5` is .h5 and .hdf5.
enum class FileFormat { csv, npy, fvecs, hdf5 };

/// The file's extension with its dot, in small letters; of a name that ends in .gz, with the one
/// before: ".csv.gz".
std::string small_extension(const std::filesystem::path& file);

/// The format that a file's extension, in small or capital letters, stands for, if any.
std::optional<FileFormat> find_format(const std::filesystem::path& file);

/// How to read a file: what its format does not need is passed over.
struct FileOptions {
  CsvOptions csv = {};            ///< for text
  std::string hdf5_dataset = {};  ///< path of the data set in an HDF5 file, see read_hdf5
};

/// Reads a file of one of the formats. All but text keep their own dtype; .npy in C order and
/// .fvecs stay in the file, memory-mapped. Throws InputError for another extension or a bad file.
Dataset read_dataset(const std::filesystem::path& file, const FileOptions& options = {});

/// Opens a file of one of the formats to read it block by block. Throws InputError, also for text,
/// which has to be read from its begin.
std::unique_ptr<RowSource> open_rows(const std::filesystem::path& file,
                                     const FileOptions& options = {});

/// Writes a data set in the format of the extension, see create_rows().
void write_dataset(const std::filesystem::path& file, const Dataset& dataset);
/// Write rows x columns values (float64 in .npy; `header` names the columns of a .csv), or labels,
/// by extension, .csv or .npy.
void write_matrix(const std::filesystem::path& file, std::span<const double> values,
                  std::int64_t columns, std::span<const std::string> header = {});
/// Writes labels by extension, .csv or .npy.
void write_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels);
/// Throws InputError unless there is room for so many labels, see require_space().
void require_labels_space(const std::filesystem::path& file, std::int64_t labels);

}  // namespace lloyd
