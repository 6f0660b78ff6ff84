// find_totals: tells whether the last row of a table holds the sums of the others.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd::apps {

/// The features of which the last sample is the sum of all others and the greatest magnitude: at
/// least two (or the only one), and at least half of those that are not 0 there; otherwise none.
/// Sums of rounded numbers may differ by 1e-4 of the total. Reads one row, and throws what reading
/// throws.
std::vector<std::int64_t> find_totals(const Dataset& dataset);

/// True for "Total", "sum", "Gesamt" and the like.
bool names_total(std::string_view text);

}  // namespace lloyd::apps
