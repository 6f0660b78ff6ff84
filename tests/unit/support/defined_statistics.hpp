// defined_statistics: the statistics of samples by their definition, block by block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/sdk/row_statistics.hpp>

namespace lloyd {

/// Statistics of n x d values; feature j of row i is `data[i*stride + j]`.
template <class T>
std::vector<FeatureStatistics> defined_statistics(const T* data, std::int64_t rows,
                                                  std::int64_t features, std::int64_t stride) {
  StatisticsMerge merge(features);
  for (std::int64_t begin = 0; begin < rows; begin += kStatisticsBlockRows) {
    const std::int64_t end = std::min(begin + kStatisticsBlockRows, rows);
    for (std::int64_t j = 0; j < features; ++j) {
      BlockStatistics block;
      block.origin = static_cast<double>(data[begin * stride + j]);
      for (std::int64_t i = begin; i < end; ++i) {
        block.add(static_cast<double>(data[i * stride + j]));
      }
      merge.add(j, end - begin, block);
    }
  }
  std::vector<FeatureStatistics> statistics(static_cast<std::size_t>(features));
  merge.write(statistics.data());
  return statistics;
}

}  // namespace lloyd
