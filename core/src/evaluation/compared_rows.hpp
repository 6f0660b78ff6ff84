// rows_to_compare: selects the rows whose labels are checked.
#pragma once

#include <cstdint>
#include <vector>

namespace lloyd {

/// The rows whose labels are compared, ascending: all, or `wanted` of them (>= 1). The data set is
/// split into `wanted` equal parts, and one row is drawn from each, the same in every call.
std::vector<std::int64_t> rows_to_compare(std::int64_t samples, std::int64_t wanted);

}  // namespace lloyd
