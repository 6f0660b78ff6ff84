// find_totals: tells whether the last row of a table holds the sums of the others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd::apps {

/// The features of which the last sample is the sum of all others and the greatest magnitude: at
/// least two (or the only one), and at least half of those that are not 0 there; otherwise none.
/// Sums of rounded numbers may differ by 1e-4 of the total, or by what rounding to the decimals of
/// the first rows explains, up to 1 %. Reads rows, and throws what reading throws.
std::vector<std::int64_t> find_totals(const Dataset& dataset);

/// The number of blank lines below the last line of text; none if the file cannot be read, or if
/// the last 64 KiB are blank.
std::optional<std::int64_t> count_blank_lines_at_end(const std::filesystem::path& file);

/// True for "Total", "sum", "Gesamt" and the like.
bool names_total(std::string_view text);

}  // namespace lloyd::apps
