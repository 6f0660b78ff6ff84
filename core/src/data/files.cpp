#include <lloyd/data/files.hpp>

#include <string>

#include <fmt/format.h>

#include <lloyd/data/npy.hpp>
#include <lloyd/error.hpp>

#include "data/extension.hpp"

namespace lloyd {
namespace {

[[noreturn]] void fail_extension(const std::filesystem::path& file, const char* known) {
  throw InputError(fmt::format("{}: the extension '{}' is unknown; {} are known", file.string(),
                               file.extension().string(), known));
}

bool is_npy_output(const std::filesystem::path& file) {
  const std::string extension = small_extension(file);
  if (extension != ".npy" && extension != ".csv") fail_extension(file, ".csv and .npy");
  return extension == ".npy";
}

}  // namespace

Dataset read_dataset(const std::filesystem::path& file, const CsvOptions& csv) {
  const std::string extension = small_extension(file);
  if (extension == ".npy") return read_npy_dataset(file);
  if (extension == ".csv" || extension == ".txt" || extension == ".tsv") return read_csv(file, csv);
  fail_extension(file, ".csv, .txt, .tsv and .npy");
}

void write_dataset(const std::filesystem::path& file, const Dataset& dataset) {
  if (is_npy_output(file)) {
    write_npy(file, dataset.matrix());
  } else {
    write_csv(file, dataset);
  }
}

void write_matrix(const std::filesystem::path& file, std::span<const double> values,
                  std::int64_t columns, std::span<const std::string> header) {
  if (is_npy_output(file)) {
    write_npy(file, values, columns);
  } else {
    write_csv(file, values, columns, header);
  }
}

void write_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels) {
  if (is_npy_output(file)) {
    write_npy(file, labels);
  } else {
    write_csv(file, labels);
  }
}

}  // namespace lloyd
