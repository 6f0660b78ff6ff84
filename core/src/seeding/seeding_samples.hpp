// SeedingSamples: the interface between the seeding algorithms and the data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <lloyd/internal/ranks.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>

namespace lloyd {

/// n samples of d features in any storage. The caller owns all arrays of size n. If the samples are
/// spread over ranks, n is the number of samples of this rank, rows and indices are those of the
/// whole, results are those of all ranks, and all methods but samples(), features(), first_row()
/// and ranks() are collective. Both passes treat
/// each sample independently and combine results by a maximum and by integer sums, so an
/// implementation may pass over the samples block by block and in any order. All methods throw
/// Cancelled and the errors of the storage.
class SeedingSamples {
 public:
  virtual ~SeedingSamples() = default;

  virtual std::int64_t samples() const = 0;
  virtual std::int64_t features() const = 0;
  /// The row of this rank's first sample.
  virtual std::int64_t first_row() const { return 0; }
  /// The ranks that hold the samples.
  virtual const Ranks& ranks() const {
    static const Ranks one_rank;
    return one_rank;
  }
  /// Multiplicities of the samples (n values >= 1); null: each counts once.
  virtual const std::int64_t* multiplicities() const { return nullptr; }

  /// Copies the given samples in this order: indices.size() x d values.
  virtual void copy_rows(std::span<const std::int64_t> indices, double* values) const = 0;

  /// Updates NearestRequest::squared_distances and, unless null, NearestRequest::nearest with
  /// further centroids (m x d). Returns the largest remaining squared distance.
  virtual double fold_nearest(std::span<const double> centroids, std::int64_t first_index,
                              double* squared_distances, std::int32_t* nearest) = 0;

  /// Computes GainsRequest::gains of candidates (m x d), each sample counted with its multiplicity.
  virtual void rate(std::span<const double> candidates, const double* squared_distances,
                    const WeightScale& scale, std::span<std::int64_t> gains) = 0;

  /// The values of the given samples.
  std::vector<double> rows(std::span<const std::int64_t> indices) const {
    std::vector<double> values(indices.size() * static_cast<std::size_t>(features()));
    copy_rows(indices, values.data());
    return values;
  }
};

}  // namespace lloyd
