// Blobs: normal clusters around random centres, the same on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd {

/// Which blobs.
struct BlobsSpec {
  std::int64_t samples = 100000;  ///< n >= 1
  std::int64_t features = 2;      ///< d >= 1
  std::int64_t centers = 8;       ///< >= 1
  double std = 1.0;               ///< standard deviation of each feature around its centre
  double box = 10.0;              ///< centres are uniform in [-box, box] in each feature
  std::uint64_t seed = 0;         ///< of centres and samples
  DType dtype = DType::float32;   ///< of the samples
};

/// Throws InputError for counts below 1, a negative or non-finite std or box, values beyond the
/// dtype or too small for it, squared distances beyond those of a fit, or sizes that overflow.
void check_blobs(const BlobsSpec& spec);

/// Sample i belongs to a uniformly chosen centre; `classes` stays empty. Throws what
/// check_blobs() throws, and Cancelled once `stop`, which is asked again and again, says so.
Dataset make_blobs(const BlobsSpec& spec, const std::function<bool()>& stop = {});

/// The same values, made when they are read: for more samples than fit into memory.
std::unique_ptr<RowSource> blob_rows(const BlobsSpec& spec);

}  // namespace lloyd
