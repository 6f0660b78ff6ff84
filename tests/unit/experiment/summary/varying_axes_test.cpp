// varying_axes(): which axes of the settings tables show, and their short values.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "experiment/plan/varying_axes.hpp"

namespace lloyd::experiment {
namespace {

// The texts of the values of an axis in tables.
std::vector<std::string> shown_values(const std::string& path,
                                      const std::vector<std::string>& values) {
  std::vector<std::vector<AxisValue>> settings;
  for (const std::string& value : values) settings.push_back({{path, value}});
  const std::vector<VaryingAxis> axes = varying_axes(settings);
  std::vector<std::string> texts;
  for (const std::string& value : values) texts.push_back(axes.at(0).text(value));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(VaryingAxes, DataSetsAreNamedByTheirFiles) {
  EXPECT_EQ(shown_values("dataset.file", {"a/x.csv", "b/y.csv"}), (Texts{"x.csv", "y.csv"}));
  EXPECT_EQ(
      shown_values("dataset", {"{file: a/x.csv, label_column: 0}", "{header: true, file: y.npy}"}),
      (Texts{"x.csv", "y.npy"}));
  EXPECT_EQ(shown_values("dataset", {"{file: a/x.csv}", "{file: b/x.csv}"}),
            (Texts{"{file: a/x.csv}", "{file: b/x.csv}"}));
}

// Records of other programs may hold any text.
TEST(VaryingAxes, AnyTextIsAValue) {
  EXPECT_EQ(shown_values("dataset", {"file: a/x.csv", "file: ", "profile: 1", ""}),
            (Texts{"x.csv", "file: ", "profile: 1", ""}));
}

}  // namespace
}  // namespace lloyd::experiment
