// NumPy's .npy files: header and values. An accepted file must survive writing and rereading.
#include <bit>
#include <cstdint>
#include <optional>

#include <lloyd/data/npy.hpp>

#include "fuzz.hpp"
#include "unit/support/temporary_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  static const fuzz::InputFile input;
  static const TemporaryFolder folder;
  std::optional<Dataset> dataset;
  fuzz::expect_refusal_or(
      [&] { dataset.emplace(read_npy_dataset(input.hold(fuzz::text_of(data, size)))); });
  if (!dataset) return 0;
  const std::filesystem::path copy = folder.path() / "copy.npy";
  write_npy(copy, dataset->matrix());
  const Dataset again = read_npy_dataset(copy);
  fuzz::require(again.fingerprint() == dataset->fingerprint(),
                "an array has another fingerprint after writing and reading it");
  for (std::int64_t i = 0; i < dataset->samples(); ++i) {
    for (std::int64_t j = 0; j < dataset->features(); ++j) {
      const double before = dataset->matrix().at(i, j);
      const double after = again.matrix().at(i, j);
      fuzz::require(std::bit_cast<std::uint64_t>(before) == std::bit_cast<std::uint64_t>(after),
                    "an array has other values after writing and reading it");
    }
  }
  return 0;
}
