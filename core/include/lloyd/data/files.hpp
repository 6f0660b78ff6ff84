// Data files by their extension.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <lloyd/data/csv.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd {

/// Reads .csv, .txt, .tsv (tab-separated unless a delimiter is given) or .npy, in small or
/// capital letters. `csv` applies to text files. An .npy file keeps its own dtype. Throws
/// InputError for another extension or a bad file.
Dataset read_dataset(const std::filesystem::path& file, const CsvOptions& csv = {});

/// Write by extension, .csv or .npy: a data set (.npy has room for its values only), rows x columns
/// values (float64 in .npy; `header` names the columns of a .csv), or labels.
void write_dataset(const std::filesystem::path& file, const Dataset& dataset);
void write_matrix(const std::filesystem::path& file, std::span<const double> values,
                  std::int64_t columns, std::span<const std::string> header = {});
void write_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels);

}  // namespace lloyd
