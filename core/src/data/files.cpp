#include <lloyd/data/files.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/fvecs.hpp>
#include <lloyd/data/hdf5.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/data/npz.hpp>
#include <lloyd/data/row_writer.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/shell_word.hpp>
#include <lloyd/internal/shown.hpp>

#include "data/fvecs/fvecs_rows.hpp"
#include "data/hdf5/hdf5_files.hpp"
#include "data/npy/npy_rows.hpp"
#include "data/rows/read_all.hpp"
#include "data/rows/row_writers.hpp"
#include "data/rows/write_all.hpp"

namespace lloyd {
namespace {

Dataset read_text(const std::filesystem::path& file, const FileOptions& options) {
  return read_csv(file, options.csv);
}

std::unique_ptr<RowSource> refuse_text_rows(const std::filesystem::path& file, const FileOptions&) {
  throw InputError(
      fmt::format("{}: text cannot be read from its middle, so it must fit into memory; "
                  "copy_file() makes an .npy file of it, which need not",
                  file.string()));
}

Dataset read_npy_file(const std::filesystem::path& file, const FileOptions&) {
  return read_npy_dataset(file);
}

std::unique_ptr<RowSource> open_npy_rows(const std::filesystem::path& file, const FileOptions&) {
  return std::make_unique<NpyRows>(file);
}

Dataset read_npz_file(const std::filesystem::path& file, const FileOptions& options) {
  return read_whole(*open_npz_rows(file, options.array_name));
}

std::unique_ptr<RowSource> open_npz_file(const std::filesystem::path& file,
                                         const FileOptions& options) {
  return open_npz_rows(file, options.array_name);
}

Dataset read_fvecs_file(const std::filesystem::path& file, const FileOptions&) {
  return Dataset(file.filename().string(), read_fvecs(file));
}

std::unique_ptr<RowSource> open_fvecs_rows(const std::filesystem::path& file, const FileOptions&) {
  return std::make_unique<FvecsRows>(file);
}

Dataset read_hdf5_file(const std::filesystem::path& file, const FileOptions& options) {
  return read_whole(*open_hdf5_rows(file, options.array_name));
}

std::unique_ptr<RowSource> open_hdf5_file(const std::filesystem::path& file,
                                          const FileOptions& options) {
  return open_hdf5_rows(file, options.array_name);
}

struct Extension {
  std::string_view name;
  FileFormat format;
  Dataset (*read)(const std::filesystem::path&, const FileOptions&);
  std::unique_ptr<RowSource> (*open)(const std::filesystem::path&, const FileOptions&);
  /// Null if files of this extension are only read.
  std::unique_ptr<RowWriter> (*create)(const std::filesystem::path&, const TableFormat&);
};

// All that depends on the extension. Messages, help texts and tests list these.
constexpr Extension kExtensions[] = {
    {".csv", FileFormat::csv, read_text, refuse_text_rows, create_csv_rows},
    {".tsv", FileFormat::csv, read_text, refuse_text_rows, nullptr},
    {".txt", FileFormat::csv, read_text, refuse_text_rows, nullptr},
    {".csv.gz", FileFormat::csv, read_text, refuse_text_rows, nullptr},
    {".tsv.gz", FileFormat::csv, read_text, refuse_text_rows, nullptr},
    {".txt.gz", FileFormat::csv, read_text, refuse_text_rows, nullptr},
    {".npy", FileFormat::npy, read_npy_file, open_npy_rows, create_npy_rows},
    {".npz", FileFormat::npz, read_npz_file, open_npz_file, nullptr},
    {".fvecs", FileFormat::fvecs, read_fvecs_file, open_fvecs_rows, create_fvecs_rows},
    {".bvecs", FileFormat::fvecs, read_fvecs_file, open_fvecs_rows, nullptr},
    {".h5", FileFormat::hdf5, read_hdf5_file, open_hdf5_file, create_hdf5_rows},
    {".hdf5", FileFormat::hdf5, read_hdf5_file, open_hdf5_file, create_hdf5_rows},
};

// Null if the extension is unknown.
const Extension* find_extension(const std::filesystem::path& file) {
  const std::string name = lower_case_extension(file);
  const auto* const found =
      std::find_if(std::begin(kExtensions), std::end(kExtensions),
                   [&](const Extension& known) { return known.name == name; });
  return found == std::end(kExtensions) ? nullptr : found;
}

[[noreturn]] void fail_extension(const std::filesystem::path& file, std::string_view known,
                                 const std::string& advice = {}) {
  throw InputError(fmt::format("{}: the extension '{}' is unknown; {} are known{}", file.string(),
                               file.extension().string(), known, advice));
}

// A command that converts a file of a format that pandas reads; empty for other files.
std::string conversion_by_pandas(const std::filesystem::path& file) {
  constexpr std::pair<std::string_view, std::string_view> kReaders[] = {
      {".parquet", "read_parquet"}, {".feather", "read_feather"}, {".arrow", "read_feather"},
      {".xlsx", "read_excel"},      {".xls", "read_excel"},       {".json", "read_json"}};
  const std::string extension = lower_case_extension(file);
  for (const auto& [name, reader] : kReaders) {
    if (extension != name) continue;
    return fmt::format(
        "; python3 -c 'import pandas, sys; pandas.{}(sys.argv[1]).to_csv(sys.argv[2], "
        "index=False)' {} {} converts it",
        reader, shell_word(file.string()),
        shell_word(std::filesystem::path(file).replace_extension(".csv").string()));
  }
  return {};
}

const Extension& extension_of(const std::filesystem::path& file) {
  if (file.empty()) throw InputError("the path of the data file is empty");
  if (const Extension* const known = find_extension(file)) return *known;
  std::error_code error;
  const std::filesystem::file_status found = std::filesystem::status(file, error);
  if (std::filesystem::is_directory(found)) {
    throw InputError(fmt::format("{} is a folder; a file is needed", file.string()));
  }
  if (file.extension().empty() && found.type() == std::filesystem::file_type::not_found) {
    throw InputError(fmt::format("{}: the file does not exist", file.string()));
  }
  std::string advice = conversion_by_pandas(file);
  if (advice.empty()) advice = "; if it is text, give it an extension of text";
  fail_extension(file, enumerated(readable_extensions(), "and") + " (text also with .gz)", advice);
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
  const Extension* const known = find_extension(file);
  return known == nullptr ? std::nullopt : std::optional(known->format);
}

std::vector<std::string> readable_extensions() {
  std::vector<std::string> names;
  for (const Extension& known : kExtensions) {
    if (!known.name.ends_with(".gz")) names.emplace_back(known.name);
  }
  return names;
}

std::vector<std::string> writable_extensions() {
  std::vector<std::string> names;
  for (const Extension& known : kExtensions) {
    if (known.create != nullptr) names.emplace_back(known.name);
  }
  return names;
}

Dataset read_dataset(const std::filesystem::path& file, const FileOptions& options) {
  return extension_of(file).read(file, options);
}

std::unique_ptr<RowSource> open_rows(const std::filesystem::path& file,
                                     const FileOptions& options) {
  return extension_of(file).open(file, options);
}

std::unique_ptr<RowWriter> create_rows(const std::filesystem::path& file,
                                       const TableFormat& table) {
  const Extension* const known = find_extension(file);
  if (known != nullptr && known->create != nullptr) {
    check_table(file, table);
    return make_checked_writer(file, table, known->create(file, table));
  }
  fail_extension(file, enumerated(writable_extensions(), "and"));
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

void write_vector(const std::filesystem::path& file, std::span<const double> values) {
  if (is_npy_output(file)) {
    write_npy(file, values);
  } else {
    write_csv(file, values, 1);
  }
}

void require_matrix_space(const std::filesystem::path& file, std::int64_t values) {
  // In text, a value takes at least a digit and a comma or line feed.
  require_space(file, values * (is_npy_output(file) ? std::int64_t{sizeof(double)} : 2));
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
