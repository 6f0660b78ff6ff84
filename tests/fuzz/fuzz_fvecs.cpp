// .fvecs and .bvecs files. An accepted file must give the same values when it is read in blocks,
// and when it is written and reread.
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include <lloyd/data/files.hpp>

#include "fuzz.hpp"
#include "unit/support/temporary_folder.hpp"

namespace {

void expect_same(const lloyd::Dataset& dataset, const lloyd::RowSource& rows) {
  lloyd::fuzz::require(rows.samples() == dataset.samples() && rows.features() == dataset.features(),
                       "a file has another shape when it is read in blocks");
  std::vector<float> row(static_cast<std::size_t>(rows.features()));
  for (std::int64_t i = 0; i < rows.samples(); ++i) {
    rows.read({i, i + 1}, row.data());
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double value = dataset.matrix().at(i, static_cast<std::int64_t>(j));
      const double read = row[j];
      lloyd::fuzz::require(
          std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(read),
          "a file has other values when it is read in blocks");
    }
  }
}

}  // namespace

// The first byte selects the format.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  static const TemporaryFolder folder;
  if (size == 0) return -1;
  const std::filesystem::path file =
      folder.path() / (data[0] % 2 == 0 ? "input.fvecs" : "input.bvecs");
  folder.write(file.filename().string(), fuzz::text_of(data + 1, size - 1));
  std::optional<Dataset> dataset;
  fuzz::expect_refusal_or([&] { dataset.emplace(read_dataset(file)); });
  if (!dataset) return 0;
  expect_same(*dataset, *open_rows(file));
  const std::filesystem::path copy = folder.path() / "copy.fvecs";
  write_dataset(copy, *dataset);
  expect_same(*dataset, *open_rows(copy));
  return 0;
}
