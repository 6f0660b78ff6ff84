#include "dataset/row_marks.hpp"

#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {
namespace {

// Quiet NaNs that no arithmetic yields.
constexpr std::uint32_t kMark32 = 0xFFFA5C3Du;
constexpr std::uint64_t kMark64 = 0xFFFA5C3D96E1B472u;

// Calls use(value) with the last value of each of the rows [begin, end) of `features` values until
// it returns true. Returns that row, or `end`.
template <class Bits, class Use>
std::int64_t find_row(void* values, std::int64_t features, std::int64_t begin, std::int64_t end,
                      const Use& use) {
  auto* const bytes = static_cast<std::byte*>(values);
  const std::int64_t row_bytes = features * static_cast<std::int64_t>(sizeof(Bits));
  for (std::int64_t i = begin; i < end; ++i) {
    if (use(bytes + (i + 1) * row_bytes - static_cast<std::int64_t>(sizeof(Bits)))) return i;
  }
  return end;
}

template <class Bits>
void write_marks(void* values, std::int64_t features, std::int64_t begin, std::int64_t end,
                 Bits mark) {
  find_row<Bits>(values, features, begin, end, [mark](std::byte* value) {
    std::memcpy(value, &mark, sizeof(mark));
    return false;
  });
}

template <class Bits>
std::int64_t find_mark(void* values, std::int64_t features, std::int64_t begin, std::int64_t end,
                       Bits mark) {
  return find_row<Bits>(values, features, begin, end, [mark](const std::byte* value) {
    return std::memcmp(value, &mark, sizeof(mark)) == 0;
  });
}

}  // namespace

RowMarks::RowMarks(const RowSource& source, RowRange rows, void* values, MarkedRows marked)
    : source_(source),
      rows_(rows),
      values_(values),
      first_(marked == MarkedRows::every || rows.size() == 0 ? 0 : rows.size() - 1) {
  if (source.dtype() == DType::float32) {
    write_marks(values, source.features(), first_, rows.size(), kMark32);
  } else {
    write_marks(values, source.features(), first_, rows.size(), kMark64);
  }
}

std::int64_t RowMarks::first_marked() const {
  return source_.dtype() == DType::float32
             ? find_mark(values_, source_.features(), first_, rows_.size(), kMark32)
             : find_mark(values_, source_.features(), first_, rows_.size(), kMark64);
}

void RowMarks::require_filled() const {
  const std::int64_t row = first_marked();
  if (row == rows_.size()) return;
  throw InputError(
      fmt::format("{}: read() was asked for the rows {} to {} and returned without all values of "
                  "row {}; it must fill every row, or throw",
                  source_.name(), rows_.begin, rows_.end - 1, rows_.begin + row));
}

void read_filled(const RowSource& source, RowRange rows, void* values, MarkedRows marked) {
  const RowMarks marks(source, rows, values, marked);
  source.read(rows, values);
  marks.require_filled();
}

}  // namespace lloyd
