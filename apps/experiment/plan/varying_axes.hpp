// Which axes of a sweep a table has a column for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/config/setting.hpp"

namespace lloyd::experiment {

/// An axis with more than one value: the path, and a header that is short but names only one of
/// them.
struct VaryingAxis {
  std::size_t index;  ///< in the axes of a setting
  std::string path;
  std::string header;
};

/// `settings`: the axes of each setting, all with the same paths.
std::vector<VaryingAxis> varying_axes(const std::vector<std::vector<AxisValue>>& settings);

}  // namespace lloyd::experiment
