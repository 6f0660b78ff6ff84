#include <lloyd/data/files.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/fvecs.hpp>
#include <lloyd/data/hdf5.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/data/row_writer.hpp>
#include <lloyd/error.hpp>

#include "data/fvecs/fvecs_rows.hpp"
#include "data/hdf5/hdf5_files.hpp"
#include "data/npy/npy_rows.hpp"
#include "data/rows/row_writers.hpp"
#include "data/rows/write_all.hpp"

namespace lloyd {
namespace {

constexpr std::array<std::pair<std::string_view, FileFormat>, 11> kExtensions = {
    {{".csv", FileFormat::csv},
     {".tsv", FileFormat::csv},
     {".txt", FileFormat::csv},
     {".csv.gz", FileFormat::csv},
     {".tsv.gz", FileFormat::csv},
     {".txt.gz", FileFormat::csv},
     {".npy", FileFormat::npy},
     {".fvecs", FileFormat::fvecs},
     {".bvecs", FileFormat::fvecs},
     {".h5", FileFormat::hdf5},
     {".hdf5", FileFormat::hdf5}}};

[[noreturn]] void fail_extension(const std::filesystem::path& file, const char* known) {
  throw InputError(fmt::format("{}: the extension '{}' is unknown; {} are known", file.string(),
                               file.extension().string(), known));
}

FileFormat format_of(const std::filesystem::path& file) {
  const std::optional<FileFormat> format = find_format(file);
  if (format) return *format;
  fail_extension(file,
                 ".csv, .tsv and .txt (with or without .gz), .npy, .fvecs, .bvecs, .h5 "
                 "and .hdf5");
}

bool is_npy_output(const std::filesystem::path& file) {
  const std::string extension = lower_case_extension(file);
  if (extension != ".npy" && extension != ".csv") fail_extension(file, ".csv and .npy");
  return extension == ".npy";
}

}  // namespace

std::string lower_case_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return extension == ".gz" ? lower_case_extension(file.stem()) + extension : extension;
}

std::optional<FileFormat> find_format(const std::filesystem::path& file) {
  const std::string extension = lower_case_extension(file);
  for (const auto& [known, format] : kExtensions) {
    if (extension == known) return format;
  }
  return std::nullopt;
}

Dataset read_dataset(const std::filesystem::path& file, const FileOptions& options) {
  switch (format_of(file)) {
    case FileFormat::csv:
      return read_csv(file, options.csv);
    case FileFormat::fvecs:
      return Dataset(file.filename().string(), read_fvecs(file));
    case FileFormat::hdf5:
      return Dataset(file.filename().string(), read_hdf5(file, options.hdf5_dataset));
    case FileFormat::npy:
      break;
  }
  return read_npy_dataset(file);
}

std::unique_ptr<RowSource> open_rows(const std::filesystem::path& file,
                                     const FileOptions& options) {
  switch (format_of(file)) {
    case FileFormat::csv:
      throw InputError(
          fmt::format("{}: text cannot be read from its middle, so it must fit into memory; 'lloyd "
                      "data convert' makes an .npy file of it, which need not",
                      file.string()));
    case FileFormat::fvecs:
      return std::make_unique<FvecsRows>(file);
    case FileFormat::hdf5:
      return open_hdf5_rows(file, options.hdf5_dataset);
    case FileFormat::npy:
      break;
  }
  return std::make_unique<NpyRows>(file);
}

std::unique_ptr<RowWriter> create_rows(const std::filesystem::path& file,
                                       const TableFormat& table) {
  const std::string extension = lower_case_extension(file);
  if (extension == ".csv") return create_csv_rows(file, table);
  if (extension == ".npy") return create_npy_rows(file, table);
  if (extension == ".fvecs") return create_fvecs_rows(file, table);
  if (extension == ".h5" || extension == ".hdf5") return create_hdf5_rows(file, table);
  fail_extension(file, ".csv, .npy, .fvecs, .h5 and .hdf5");
}

void write_dataset(const std::filesystem::path& file, const Dataset& dataset) {
  write_all(*create_rows(file, table_format(dataset)), dataset);
}

void write_matrix(const std::filesystem::path& file, std::span<const double> values,
                  std::int64_t columns, std::span<const std::string> header) {
  if (is_npy_output(file)) {
    write_npy(file, values, columns);
  } else {
    write_csv(file, values, columns, header);
  }
}

void require_labels_space(const std::filesystem::path& file, std::int64_t labels) {
  // In text, a label takes at least a digit and a line feed.
  require_space(file, labels * (is_npy_output(file) ? std::int64_t{sizeof(std::int32_t)} : 2));
}

void write_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels) {
  if (is_npy_output(file)) {
    write_npy(file, labels);
  } else {
    write_csv(file, labels);
  }
}

}  // namespace lloyd
