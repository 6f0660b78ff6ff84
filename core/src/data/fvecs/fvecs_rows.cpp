#include "data/fvecs/fvecs_rows.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <lloyd/data/files.hpp>

#include "data/rows/check_rows.hpp"

namespace lloyd {
namespace {

FvecsHeader fvecs_header_of(const InputFile& file) {
  char head[4];
  const std::int64_t count = file.read_some(0, head, sizeof(head));
  const bool bytes = lower_case_extension(file.path()) == ".bvecs";
  return parse_fvecs_header(file.path(), {head, static_cast<std::size_t>(count)}, file.size(),
                            bytes ? 1 : 4);
}

}  // namespace

FvecsRows::FvecsRows(const std::filesystem::path& file)
    : name_(file.filename().string()), file_(file), header_(fvecs_header_of(file_)) {}

void FvecsRows::read(RowRange rows, void* values) const {
  check_rows(*this, rows);
  constexpr std::int64_t kBlockBytes = std::int64_t{1} << 20;
  const std::int64_t step = header_.row_bytes();
  const std::int64_t d = header_.columns;
  const std::int64_t most = std::max<std::int64_t>(1, std::min(kBlockBytes / step, rows.size()));
  std::vector<char> block(static_cast<std::size_t>(most * step));
  auto* to = static_cast<float*>(values);
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += most) {
    const std::int64_t count = std::min(most, rows.end - begin);
    file_.read(begin * step, block.data(), count * step);
    for (std::int64_t i = 0; i < count; ++i, to += d) {
      const char* const row = block.data() + i * step;
      check_fvecs_row(file_.path(), header_, begin + i, fvecs_count(row));
      if (header_.value_bytes == 4) {
        std::memcpy(to, row + 4, static_cast<std::size_t>(d) * sizeof(float));
      } else {
        const auto* bytes = reinterpret_cast<const unsigned char*>(row + 4);
        std::transform(bytes, bytes + d, to, [](unsigned char c) { return static_cast<float>(c); });
      }
    }
  }
}

}  // namespace lloyd
