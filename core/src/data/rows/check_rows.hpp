// Refuses rows that a row source does not have.
#pragma once

#include <memory>

#include <fmt/format.h>

#include <lloyd/data/row_source.hpp>
#include <lloyd/error.hpp>

namespace lloyd {

/// Throws InputError, naming the source, unless `rows` are rows of it; they may be none.
inline void check_rows(const RowSource& source, RowRange rows) {
  if (rows.begin >= 0 && rows.begin <= rows.end && rows.end <= source.samples()) return;
  throw InputError(
      fmt::format("{}: the rows from {} up to {} were requested; there are {}, counted from 0",
                  source.name(), rows.begin, rows.end, source.samples()));
}

/// Throws InputError, naming the function that received it, if a source is null.
inline void check_source(const char* function, const std::shared_ptr<const RowSource>& source) {
  if (source == nullptr) {
    throw InputError(fmt::format("{}: the source of rows is a null pointer", function));
  }
}

}  // namespace lloyd
