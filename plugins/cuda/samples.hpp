// Samples as kernels see them.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define LLOYD_CUDA_BOTH __host__ __device__
#else
#define LLOYD_CUDA_BOTH
#endif

namespace lloyd_cuda {

/// Order of the values of resident samples.
enum class Layout : std::int64_t {
  soa = 0,  ///< each feature contiguous
  aos = 1,  ///< each sample contiguous
};

/// A range of rows of a data set in device memory, in either layout.
template <class T>
struct Samples {
  const T* data = nullptr;        ///< of the row `first_row`
  std::int64_t first_row = 0;     ///< rows are numbered as in the data set
  std::int64_t row_step = 0;      ///< values from one row to the next
  std::int64_t feature_step = 0;  ///< values from one feature to the next
  std::int64_t features = 0;      ///< d

  /// Where feature 0 of a row is.
  LLOYD_CUDA_BOTH const T* row(std::int64_t i) const { return data + (i - first_row) * row_step; }
};

}  // namespace lloyd_cuda
