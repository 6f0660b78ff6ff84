// Selects the axes of a sweep that get a column in tables.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/config/setting.hpp"

namespace lloyd::experiment {

/// An axis with more than one value: its path, and a short header that is unique among the axes.
struct VaryingAxis {
  std::size_t index;  ///< in the axes of a setting
  std::string path;
  std::string header;
};

/// `settings` holds the axes of each setting, all with the same paths.
std::vector<VaryingAxis> varying_axes(const std::vector<std::vector<AxisValue>>& settings);

}  // namespace lloyd::experiment
