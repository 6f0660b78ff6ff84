// The range of -k, the suggested k, and the chart of the criteria.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fit/choice/cluster_suggestion.hpp"
#include "fit/choice/criteria_chart.hpp"
#include "options/cluster_range.hpp"

namespace lloyd::apps {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

CriteriaOfK criteria_of(std::int64_t k, double silhouette, double calinski_harabasz,
                        double davies_bouldin) {
  CriteriaOfK tried{k, {}};
  tried.criteria.clusters = k;
  tried.criteria.silhouette = silhouette;
  tried.criteria.calinski_harabasz = calinski_harabasz;
  tried.criteria.davies_bouldin = davies_bouldin;
  return tried;
}

std::string range_fault(std::string text) {
  return cluster_range()(text);
}

TEST(ClusterRange, AcceptsNumbersAndRanges) {
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(parse_cluster_range("8"), Numbers{8});
  EXPECT_EQ(parse_cluster_range("2..5"), (Numbers{2, 3, 4, 5}));
  EXPECT_EQ(parse_cluster_range("2..9..3"), (Numbers{2, 5, 8}));
  EXPECT_EQ(parse_cluster_range("4..4"), Numbers{4});
  for (const char* text : {"8", "2..5", "2..9..3", "4..4", "1..10000"}) {
    EXPECT_EQ(range_fault(text), "") << text;
  }
}

TEST(ClusterRange, RefusesOtherTexts) {
  EXPECT_EQ(range_fault("three"),
            "'three' is not a whole number from 1 to 2147483647; a range is written as in 2..8");
  for (const char* text : {"0..3", "5..2", "2..", "..5", "2..5..0", "2..5..", "2...5", "2..5..1..1",
                           "02..5", "2..99999999999"}) {
    EXPECT_NE(range_fault(text).find("is not an ascending range of whole numbers"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(
      range_fault("1..100000"),
      "'1..100000' holds more than 10000 numbers of clusters; use a step, as in 1..100000..9999");
}

TEST(ClusterSuggestion, FollowsTheMajority) {
  const std::vector<CriteriaOfK> tried = {
      criteria_of(2, 0.9, 50, 0.5), criteria_of(3, 0.6, 80, 0.4), criteria_of(4, 0.5, 70, 0.6)};
  const ClusterSuggestion suggestion = suggest_clusters(tried);
  EXPECT_EQ(suggestion.index, 1U);
  EXPECT_EQ(suggestion.reason,
            "best by Calinski-Harabasz and Davies-Bouldin; the simplified silhouette is best at 2");
  EXPECT_EQ(best_by_any_criterion(tried), (std::vector<std::size_t>{0, 1}));
}

TEST(ClusterSuggestion, SaysWhenAllAgree) {
  const std::vector<CriteriaOfK> tried = {criteria_of(1, kUndefined, kUndefined, kUndefined),
                                          criteria_of(2, 0.9, 50, 0.5),
                                          criteria_of(3, 0.9, 40, 0.5)};
  const ClusterSuggestion suggestion = suggest_clusters(tried);
  EXPECT_EQ(suggestion.index, 1U);
  EXPECT_EQ(suggestion.reason,
            "best by the simplified silhouette, Calinski-Harabasz and Davies-Bouldin");
}

TEST(ClusterSuggestion, FollowsTheSilhouetteWhenNoneAgree) {
  const std::vector<CriteriaOfK> tried = {
      criteria_of(2, 0.5, 80, 0.5), criteria_of(3, 0.6, 50, 0.6), criteria_of(4, 0.4, 70, 0.4)};
  const ClusterSuggestion suggestion = suggest_clusters(tried);
  EXPECT_EQ(suggestion.index, 1U);
  EXPECT_EQ(
      suggestion.reason,
      "best by the simplified silhouette, as no two criteria agree; Calinski-Harabasz is best "
      "at 2, Davies-Bouldin is best at 4");
}

TEST(ClusterSuggestion, WarnsAtTheEndOfTheRange) {
  const std::vector<CriteriaOfK> tried = {criteria_of(2, 0.5, 50, 0.5),
                                          criteria_of(3, 0.6, 80, 0.4)};
  EXPECT_NE(suggest_clusters(tried).reason.find("it is the largest k of the range"),
            std::string::npos);
}

TEST(ClusterSuggestion, IsMissingWithoutCriteria) {
  const std::vector<CriteriaOfK> tried = {criteria_of(1, kUndefined, kUndefined, kUndefined)};
  EXPECT_EQ(suggest_clusters(tried).index, std::nullopt);
  EXPECT_EQ(suggest_clusters({}).index, std::nullopt);
}

TEST(CriteriaChart, DrawsEveryFiniteValue) {
  const std::vector<CriteriaOfK> tried = {criteria_of(1, kUndefined, kUndefined, kUndefined),
                                          criteria_of(2, 0.9, 50, 0.5),
                                          criteria_of(3, 0.8, 40, 0.7)};
  const std::string svg = criteria_svg(
      "a<b&c", tried, [](std::size_t i) { return 30.0 - static_cast<double>(i); }, 1);
  std::size_t circles = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos;
       at = svg.find("<circle", at + 1)) {
    ++circles;
  }
  EXPECT_EQ(circles, 3U + 2 + 2 + 2);
  EXPECT_NE(svg.find(">a&lt;b&amp;c</text>"), std::string::npos);
  EXPECT_NE(svg.find("suggested k = 2"), std::string::npos);
  EXPECT_NE(svg.find("k = 3: 0.7<"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(CriteriaChart, CutsATitleThatIsWiderThanThePicture) {
  const std::vector<CriteriaOfK> tried = {criteria_of(2, 0.9, 50, 0.5)};
  const std::string svg = criteria_svg(
      std::string(300, 'x') + ".csv", tried, [](std::size_t) { return 1.0; }, 0);
  EXPECT_NE(svg.find('>' + std::string(60, 'x') + "...</text>"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">criteria by number of clusters k, suggested k = 2</text>"),
            std::string::npos);
}

}  // namespace
}  // namespace lloyd::apps
