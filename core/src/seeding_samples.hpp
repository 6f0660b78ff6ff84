// SeedingSamples: all that the seeding algorithms know of the data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <lloyd/plugin/seeding_kernels.hpp>

namespace lloyd {

/// n samples of d features, wherever they are. Whatever is of size n is the caller's, so that an
/// implementation can go through the samples block by block: both passes treat each sample by
/// itself, and their results join by a maximum and by integer sums. Methods throw Cancelled, and
/// whatever else keeps them from their work.
class SeedingSamples {
 public:
  virtual ~SeedingSamples() = default;

  virtual std::int64_t samples() const = 0;
  virtual std::int64_t features() const = 0;
  /// How many samples each one stands for (n values >= 1); null: each for itself alone.
  virtual const std::int64_t* multiplicities() const { return nullptr; }

  /// Copies the given samples, in this order, to `values`: indices.size() x d.
  virtual void copy_rows(std::span<const std::int64_t> indices, double* values) const = 0;

  /// NearestRequest::squared_distances and, where `nearest` is not null, NearestRequest::nearest
  /// for further centroids (m x d). Returns the largest squared distance that is left.
  virtual double fold_nearest(std::span<const double> centroids, std::int64_t first_index,
                              double* squared_distances, std::int32_t* nearest) = 0;

  /// GainsRequest::gains of candidates (m x d), each sample counted as often as it stands for one.
  virtual void rate(std::span<const double> candidates, const double* squared_distances,
                    const WeightScale& scale, std::span<std::int64_t> gains) = 0;

  /// The rows of some samples.
  std::vector<double> rows(std::span<const std::int64_t> indices) const {
    std::vector<double> values(indices.size() * static_cast<std::size_t>(features()));
    copy_rows(indices, values.data());
    return values;
  }
};

}  // namespace lloyd
