// Failures with the same cause are grouped.
#include "verify/failure_groups.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lloyd::apps {
namespace {

conformance::Result failed_case(const std::string& name, const std::string& message) {
  return {name, conformance::Outcome::failed, message, 0};
}

TEST(FailureGroups, TheDataSetOfACaseIsNoCause) {
  EXPECT_EQ(failure_cause("'ties' n=5 d=3 k=2: fit() failed: no license"),
            "fit() failed: no license");
  EXPECT_EQ(failure_cause("n=5 d=3 k=2: fit() failed: no license"), "fit() failed: no license");
  EXPECT_EQ(failure_cause("'ties' n=5 d=3 k=2, iteration 1: row 0 has label 1"),
            "row 0 has label 1");
  EXPECT_EQ(failure_cause("fit() failed: no license"), "fit() failed: no license");
}

TEST(FailureGroups, LastWordsAreNoCause) {
  EXPECT_EQ(failure_cause("the plugin ended the process: exit(3) in fit(); last words: pid 77"),
            "the plugin ended the process: exit(3) in fit()");
}

TEST(FailureGroups, EqualCausesAreOneGroup) {
  FailureGroups failures;
  EXPECT_EQ(failures.add(failed_case("a/b/float32", "n=5 d=3 k=2: it failed")).names.size(), 1u);
  EXPECT_EQ(failures.add(failed_case("a/c/float32", "it crashed")).names.size(), 1u);
  EXPECT_EQ(failures.add(failed_case("a/b/float64", "n=7 d=3 k=2: it failed")).names.size(), 2u);
  ASSERT_EQ(failures.groups().size(), 2u);
  EXPECT_EQ(failures.groups()[0].message, "n=5 d=3 k=2: it failed");
  EXPECT_EQ(failures.groups()[0].names, (std::vector<std::string>{"a/b/float32", "a/b/float64"}));
  EXPECT_EQ(failures.groups()[1].names, std::vector<std::string>{"a/c/float32"});
}

TEST(FailureGroups, ManyNamesAreShortenedToTheirCases) {
  EXPECT_EQ(list_names({"a/b/float32", "a/b/float64"}), "    a/b/float32, a/b/float64\n");
  std::vector<std::string> names;
  for (const char* name : {"stop/labels", "stop/tolerance"}) {
    for (const char* dtype : {"/float32", "/float64"}) {
      for (const char* variant : {"", "/isa=a", "/isa=b", "/isa=c"}) {
        names.push_back(std::string(name) + dtype + variant);
      }
    }
  }
  EXPECT_EQ(list_names(names), "    stop/labels, stop/tolerance\n");
}

TEST(FailureGroups, LongListsAreWrapped) {
  const std::vector<std::string> names(1, std::string(60, 'a'));
  EXPECT_EQ(list_names({names[0] + "1", names[0] + "2"}),
            "    " + names[0] + "1,\n    " + names[0] + "2\n");
}

}  // namespace
}  // namespace lloyd::apps
