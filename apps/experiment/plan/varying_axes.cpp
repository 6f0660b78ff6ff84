#include "experiment/plan/varying_axes.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string_view>

namespace lloyd::experiment {
namespace {

// The name of the file that a value of the axis `path` names; the value itself if it names none.
std::string file_name(const std::string& path, const std::string& value) {
  constexpr std::string_view kKey = "file: ";
  std::string file = value;
  if (path == "dataset") {
    const std::size_t key = value.find(kKey);
    const bool is_key =
        key != std::string::npos && (key == 0 || value[key - 1] == '{' || value[key - 1] == ' ');
    if (!is_key) return value;
    const std::size_t begin = key + kKey.size();
    file = value.substr(begin, value.find_first_of(",}", begin) - begin);
  } else if (path != "dataset.file") {
    return value;
  }
  const std::string name = std::filesystem::path(file).filename().string();
  return name.empty() ? value : name;
}

std::map<std::string, std::string> short_names(const std::string& path,
                                               const std::set<std::string>& values) {
  std::map<std::string, std::string> names;
  std::set<std::string> distinct;
  for (const std::string& value : values) {
    names[value] = file_name(path, value);
    distinct.insert(names[value]);
  }
  if (distinct.size() < values.size()) names.clear();
  return names;
}

}  // namespace

std::vector<VaryingAxis> varying_axes(const std::vector<std::vector<AxisValue>>& settings) {
  std::vector<VaryingAxis> axes;
  const std::vector<AxisValue>& first = settings.front();
  for (std::size_t a = 0; a < first.size(); ++a) {
    std::set<std::string> values;
    for (const std::vector<AxisValue>& setting : settings) values.insert(setting[a].value);
    if (values.size() > 1) {
      const std::string& path = first[a].path;
      axes.push_back({a, path, path.substr(path.rfind('.') + 1), short_names(path, values)});
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
