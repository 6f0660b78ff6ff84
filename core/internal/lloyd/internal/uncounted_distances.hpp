// FitResult::distances of a fit whose distances were not counted.
#pragma once

#include <cstdint>

namespace lloyd {

/// The value for external programs that do not report a count; plugins always count.
inline constexpr std::int64_t kUncountedDistances = -1;

}  // namespace lloyd
