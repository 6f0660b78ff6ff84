// sampled_rows: random rows that represent a data set.
#pragma once

#include <cstdint>
#include <vector>

namespace lloyd {

/// `wanted` distinct rows (0 to `samples`), ascending: the data set is split into `wanted` parts of
/// about equal size, and one row is drawn from each. The same in every call.
std::vector<std::int64_t> sampled_rows(std::int64_t samples, std::int64_t wanted);

}  // namespace lloyd
