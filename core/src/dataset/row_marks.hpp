// RowMarks: notices rows that RowSource::read() has not filled.
#pragma once

#include <cstdint>

#include <lloyd/data/row_source.hpp>

namespace lloyd {

/// Which rows of a read are marked.
enum class MarkedRows {
  last,   ///< the last one: shows a short read in constant time
  every,  ///< all of them, for the first read of a source: shows rows that are left out, too
};

/// Writes a NaN with a bit pattern of its own into the last value of the marked rows.
class RowMarks {
 public:
  /// `values`: memory for `rows`, row-major without gaps, valid and used by nobody else as long as
  /// this object. `source` must outlive it.
  RowMarks(const RowSource& source, RowRange rows, void* values, MarkedRows marked);

  /// Throws InputError, which names the source and the row, if a marked row still has its mark.
  void require_filled() const;

 private:
  std::int64_t first_marked() const;

  const RowSource& source_;
  RowRange rows_;
  void* values_;
  std::int64_t first_;  // row within `rows_`: this one and those after it are marked
};

/// Calls source.read() and throws what it throws, and InputError if it leaves out a marked row.
void read_filled(const RowSource& source, RowRange rows, void* values,
                 MarkedRows marked = MarkedRows::last);

}  // namespace lloyd
