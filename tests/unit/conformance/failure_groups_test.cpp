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
            failure_cause("row 0 has label 1"));
  EXPECT_EQ(failure_cause("margin=1e-05: 'ties' n=5 d=3 k=2: fit() failed: no license"),
            "fit() failed: no license");
  EXPECT_EQ(failure_cause("fit() failed: no license"), "fit() failed: no license");
}

TEST(FailureGroups, NumbersAreNoCause) {
  EXPECT_EQ(failure_cause("row 17 has label 3 at squared distance 1.25e-3; the definition gives 4 "
                          "at -nan (allowed excess 0)"),
            "row # has label # at squared distance #; the definition gives # at # (allowed excess "
            "#)");
  EXPECT_EQ(failure_cause("byte 0x1f of float32, k-means"), "byte # of float32, k-means");
  EXPECT_EQ(failure_cause("the plugin ended the process: signal 6 (Aborted)"),
            "the plugin ended the process: signal 6 (Aborted)");
  EXPECT_EQ(failure_cause("the plugin ended the process: exit(3) in fit()"),
            "the plugin ended the process: exit(3) in fit()");
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

// Adds failures of one cause with these last words. Returns what is printed for each, and for the
// group.
std::vector<std::string> described(const std::vector<std::string>& words) {
  FailureGroups failures;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string message =
        words[i].empty() ? "it crashed" : "it crashed; last words: " + words[i];
    const conformance::Result failed = failed_case("a/b" + std::to_string(i), message);
    texts.push_back(describe_failure(failed, failures.add(failed)));
  }
  texts.push_back(describe_group(failures.groups().front()));
  return texts;
}

TEST(FailureGroups, LastWordsThatDifferAreShownWithTheirCases) {
  EXPECT_EQ(described({"tile 7 of 4", "no tile is left", ""}),
            (std::vector<std::string>{"it crashed; last words: tile 7 of 4",
                                      "same failure as a/b0; last words: no tile is left",
                                      "same failure as a/b0",
                                      "  3 times: it crashed\n    a/b0, a/b1, a/b2\n"
                                      "    last words in a/b0: tile 7 of 4\n"
                                      "    last words in a/b1: no tile is left\n"}));
  EXPECT_EQ(described({"", "no tile is left"}).back(),
            "  2 times: it crashed\n    a/b0, a/b1\n    last words in a/b1: no tile is left\n");
  const std::string many = described({"a", "b", "c", "d", "e", "f", "g"}).back();
  EXPECT_NE(many.find("a/b4: e\n    and 2 other last words\n"), std::string::npos) << many;
}

TEST(FailureGroups, EqualLastWordsAreShownOnce) {
  EXPECT_EQ(described({"tile 7 of 4", "tile 9 of 4"}),
            (std::vector<std::string>{
                "it crashed; last words: tile 7 of 4", "same failure as a/b0",
                "  2 times: it crashed; last words: tile 7 of 4\n    a/b0, a/b1\n"}));
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
