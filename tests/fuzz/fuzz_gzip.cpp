// Text in gzip: the decompressed data must be read as a table or refused.
#include <lloyd/data/csv.hpp>

#include "fuzz.hpp"
#include "unit/support/temporary_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  static const TemporaryFolder folder;
  folder.write("input.csv.gz", fuzz::text_of(data, size));
  fuzz::expect_refusal_or([&] {
    const Dataset dataset = read_csv(folder.path() / "input.csv.gz");
    fuzz::require(dataset.samples() >= 1 && dataset.features() >= 1, "an empty table was accepted");
  });
  return 0;
}
