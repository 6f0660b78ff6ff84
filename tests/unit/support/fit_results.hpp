// expect_same_results: a fit on a part of the rows, or read in blocks, against that of the whole
// data set.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/fit.hpp>

namespace lloyd {

/// Expects the results of `found`, a fit of `part`, to have the bits of `whole`: those of its rows,
/// and of all that the ranks share.
inline void expect_same_results(const Fit& found, const Fit& whole, const Dataset& part) {
  EXPECT_EQ(found.centroids, whole.centroids);
  EXPECT_EQ(found.counts, whole.counts);
  EXPECT_EQ(found.inertia, whole.inertia);
  EXPECT_EQ(found.restart, whole.restart);
  EXPECT_EQ(found.result.iterations, whole.result.iterations);
  EXPECT_EQ(found.result.relocations, whole.result.relocations);
  EXPECT_EQ(found.result.stop_reason, whole.result.stop_reason);
  EXPECT_EQ(found.result.sum_form, whole.result.sum_form);
  const auto first = whole.labels.begin() + part.first_row();
  EXPECT_EQ(found.labels, std::vector<std::int32_t>(first, first + part.samples()));
}

}  // namespace lloyd
