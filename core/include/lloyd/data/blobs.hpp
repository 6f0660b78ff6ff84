// Blobs: synthetic data, normal clusters around random centres, bit-identical on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd {

/// Parameters of the blobs.
struct BlobsSpec {
  std::int64_t samples = 100000;  ///< n >= 1
  std::int64_t features = 2;      ///< d >= 1
  std::int64_t centers = 8;       ///< number of centres, >= 1
  double std = 1.0;               ///< standard deviation of each feature around its centre
  double box = 10.0;              ///< centres are uniform in [-box, box] in each feature
  std::uint64_t seed = 0;         ///< of the random numbers
  DType dtype = DType::float32;   ///< type of the samples
};

/// Throws InputError for counts below 1, a negative or non-finite std or box, values that overflow
/// or vanish in the dtype, squared distances beyond those of a fit, or sizes that overflow.
void check_blobs(const BlobsSpec& spec);

/// Generates blobs. Each sample belongs to a uniformly chosen centre; `classes` stays empty. Throws
/// what check_blobs() throws, and Cancelled if `stop`, which is polled, returns true.
Dataset make_blobs(const BlobsSpec& spec, const std::function<bool()>& stop = {});

/// The same values, generated as they are read, for more samples than fit into memory.
std::unique_ptr<RowSource> blob_rows(const BlobsSpec& spec);

}  // namespace lloyd
