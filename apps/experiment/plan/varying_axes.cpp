#include "experiment/plan/varying_axes.hpp"

#include <map>
#include <set>

namespace lloyd::experiment {

std::vector<VaryingAxis> varying_axes(const std::vector<std::vector<AxisValue>>& settings) {
  std::vector<VaryingAxis> axes;
  const std::vector<AxisValue>& first = settings.front();
  for (std::size_t a = 0; a < first.size(); ++a) {
    std::set<std::string> values;
    for (const std::vector<AxisValue>& setting : settings) values.insert(setting[a].value);
    if (values.size() > 1) {
      axes.push_back({a, first[a].path, first[a].path.substr(first[a].path.rfind('.') + 1)});
    }
  }
  std::map<std::string, int> uses;
  for (const VaryingAxis& axis : axes) ++uses[axis.header];
  for (VaryingAxis& axis : axes) {
    if (uses[axis.header] > 1) axis.header = axis.path;
  }
  return axes;
}

}  // namespace lloyd::experiment
