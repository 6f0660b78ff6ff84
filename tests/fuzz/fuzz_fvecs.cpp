// .fvecs and .bvecs files. An accepted file must give the same values when it is read in blocks,
// and when it is written and reread.
#include <cstdint>
#include <optional>

#include <lloyd/data/files.hpp>

#include "fuzz.hpp"
#include "fuzz_rows.hpp"
#include "unit/support/temporary_folder.hpp"

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
  fuzz::expect_same_rows(*dataset, *open_rows(file));
  const std::filesystem::path copy = folder.path() / "copy.fvecs";
  write_dataset(copy, *dataset);
  fuzz::expect_same_rows(*dataset, *open_rows(copy));
  return 0;
}
