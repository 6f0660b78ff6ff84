// Selects the axes of a sweep that get a column in tables.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "experiment/config/setting.hpp"

namespace lloyd::experiment {

/// An axis with more than one value: its path, and a short header that is unique among the axes.
struct VaryingAxis {
  std::size_t index;  ///< in the axes of a setting
  std::string path;
  std::string header;
  std::map<std::string, std::string> names = {};  ///< short texts of values, see text()

  /// A value as tables show it. A path, or a map such as "{file: ../data/iris.csv, label_column:
  /// species}", is shortened to the name of the file if all values of the axis stay distinct.
  const std::string& text(const std::string& value) const {
    const auto found = names.find(value);
    return found == names.end() ? value : found->second;
  }
};

/// `settings` holds the axes of each setting, all with the same paths.
std::vector<VaryingAxis> varying_axes(const std::vector<std::vector<AxisValue>>& settings);

}  // namespace lloyd::experiment
