// Fingerprint: a hash that identifies the values of a data set.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

namespace lloyd {

/// Depends on shape, dtype and the bits of the values, but not on the stride nor on how the rows
/// are split into calls of add(). Not a cryptographic hash.
class Fingerprint {
 public:
  Fingerprint(std::int64_t samples, std::int64_t features, DType dtype);

  /// Hashes the next rows: feature j of row i is `data[i*stride + j]`.
  void add(const void* data, std::int64_t stride, std::int64_t rows);
  /// The hash of all rows so far.
  std::uint64_t value() const;

 private:
  std::size_t row_bytes_;
  std::int64_t value_bytes_;
  std::uint64_t hash_;
};

}  // namespace lloyd
