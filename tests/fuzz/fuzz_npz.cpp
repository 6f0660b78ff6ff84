// NumPy's .npz files: ZIP directory, stored and deflated arrays. The first byte tells whether an
// array is named. An accepted array must give the same values when it is read in blocks.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <lloyd/data/npz.hpp>

#include "fuzz.hpp"
#include "fuzz_rows.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  static const fuzz::InputFile input;
  if (size == 0) return -1;
  const std::string array = data[0] % 2 == 0 ? "" : "a";
  const auto file = input.hold(fuzz::text_of(data + 1, size - 1));
  std::unique_ptr<RowSource> rows;
  std::optional<Dataset> dataset;
  fuzz::expect_refusal_or([&] {
    rows = open_npz_rows(file, array);
    dataset.emplace("npz", read_npz(file, array));
  });
  if (dataset) fuzz::expect_same_rows(*dataset, *rows);
  return 0;
}
