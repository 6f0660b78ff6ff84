// Samples: a view of samples in device memory, for kernels.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define LLOYD_HOST_DEVICE __host__ __device__
#else
#define LLOYD_HOST_DEVICE
#endif

namespace lloyd_cuda {

/// Memory layout of resident samples.
enum class Layout : std::int64_t {
  soa = 0,  ///< each feature contiguous
  aos = 1,  ///< each sample contiguous
};

/// A range of rows of a data set in device memory, in either layout.
template <class T>
struct Samples {
  const T* data = nullptr;          ///< the value of row `first_row`, feature 0
  std::int64_t first_row = 0;       ///< row of the data set with which `data` begins
  std::int64_t row_stride = 0;      ///< from one row to the next, in values
  std::int64_t feature_stride = 0;  ///< from one feature to the next, in values
  std::int64_t features = 0;        ///< d

  /// Pointer to feature 0 of row i.
  LLOYD_HOST_DEVICE const T* row(std::int64_t i) const {
    return data + (i - first_row) * row_stride;
  }
};

}  // namespace lloyd_cuda
