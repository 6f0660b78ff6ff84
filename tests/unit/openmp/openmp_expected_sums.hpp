// Expected cluster sums for given labels.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/requests.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd_openmp {

/// Expects `sums`, in an integer form, to equal those of all samples by their labels.
inline void expect_sums_of(const lloyd::DatasetView& view, const std::vector<std::int32_t>& labels,
                           lloyd::ClusterSums& sums) {
  const lloyd::SumPlan plan = lloyd::SumPlan::make(view);
  lloyd::ClusterSums expected(plan, sums.clusters());
  if (view.dtype == lloyd::DType::float32) {
    expected.add(static_cast<const float*>(view.data), view.stride, view.samples, labels.data());
  } else {
    expected.add(static_cast<const double*>(view.data), view.stride, view.samples, labels.data());
  }
  const auto words = [&view](lloyd::ClusterSums& of) {
    std::vector<lloyd::SumWords> stored(static_cast<std::size_t>(of.clusters() * view.features));
    std::vector<std::int64_t> values(static_cast<std::size_t>(of.clusters()));
    of.store(stored.data(), values.data());
    for (const lloyd::SumWords& word : stored) {
      values.push_back(static_cast<std::int64_t>(word.low));
      values.push_back(static_cast<std::int64_t>(word.high));
    }
    return values;
  };
  EXPECT_EQ(words(sums), words(expected));
}

}  // namespace lloyd_openmp
