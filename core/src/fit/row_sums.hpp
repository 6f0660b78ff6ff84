// add_rows: adds rows that were read from a source to cluster sums.
#pragma once

#include <cstdint>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// Adds rows of a data set to `sums`. `data`: their values, without gaps; `labels`: of all rows.
inline void add_rows(const Dataset& dataset, RowRange rows, const void* data,
                     const std::int32_t* labels, ClusterSums& sums) {
  const std::int64_t d = dataset.features();
  if (dataset.dtype() == DType::float32) {
    sums.add(static_cast<const float*>(data), d, rows.size(), labels + rows.begin);
  } else {
    sums.add(static_cast<const double*>(data), d, rows.size(), labels + rows.begin);
  }
}

}  // namespace lloyd
