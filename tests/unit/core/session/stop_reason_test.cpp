// The reason why a fit ended, and its name.
#include <cstdint>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/plugin/abi/types.hpp>

#include "text/names.hpp"

namespace lloyd {
namespace {

TEST(StopReasons, HaveTheNamesOfRecords) {
  constexpr std::pair<StopReason, std::string_view> kNames[] = {
      {StopReason::none, "none"},
      {StopReason::labels, "labels"},
      {StopReason::tolerance, "tolerance"},
      {StopReason::max_iterations, "max_iterations"},
      {StopReason::cancelled, "cancelled"}};
  for (const auto& [reason, name] : kNames) {
    EXPECT_EQ(to_string(reason), name);
    EXPECT_EQ(apps::parse_stop_reason(name), reason);
  }
  EXPECT_EQ(to_string(static_cast<StopReason>(9)), "unknown");
}

TEST(StopReasons, SayWhyAFitEnded) {
  const Dataset points = make_blobs({.samples = 3000, .features = 2, .centers = 6, .seed = 3});
  KMeansOptions options;
  options.backend.name = "sequential";
  const auto reason = [&] { return kmeans(points, 6, options).result.stop_reason; };
  options.fit.tolerance = 0;
  EXPECT_EQ(reason(), StopReason::labels);
  options.fit.tolerance = 1e6;
  EXPECT_EQ(reason(), StopReason::tolerance);
  options.fit.fixed_iterations = true;
  EXPECT_EQ(reason(), StopReason::max_iterations);
  options.on_iteration = [](const IterationRecord& record) { return record.iteration < 3; };
  EXPECT_EQ(reason(), StopReason::cancelled);
  options.stop = [] { return true; };
  EXPECT_EQ(reason(), StopReason::none);
}

}  // namespace
}  // namespace lloyd
