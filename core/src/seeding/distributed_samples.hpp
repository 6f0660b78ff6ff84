// DistributedSamples: seeding on a data set that is spread over ranks.
#pragma once

#include <memory>
#include <utility>

#include <lloyd/dataset.hpp>
#include <lloyd/internal/ranks.hpp>

#include "parallel/range_workers.hpp"
#include "seeding/seeding_samples.hpp"

namespace lloyd {

/// The values of rows of the whole data set on all ranks: indices.size() x d. Collective; with one
/// rank, the rows are those of `dataset`.
std::vector<double> shared_rows(const Dataset& dataset, const Ranks& ranks,
                                std::span<const std::int64_t> indices);

/// Combines the samples of all ranks. If a rank fails or is cancelled, methods throw AgreedError on
/// all ranks.
class DistributedSamples final : public SeedingSamples {
 public:
  /// `local`: the samples of this rank, null if it has none. References must outlive this object.
  DistributedSamples(const Dataset& dataset, std::unique_ptr<SeedingSamples> local,
                     const Ranks& ranks, const RangeWorkers& workers)
      : dataset_(dataset), local_(std::move(local)), ranks_(ranks), workers_(workers) {}

  std::int64_t samples() const override { return dataset_.samples(); }
  std::int64_t features() const override { return dataset_.features(); }
  std::int64_t first_row() const override { return dataset_.first_row(); }
  const Ranks& ranks() const override { return ranks_; }
  void copy_rows(std::span<const std::int64_t> indices, double* values) const override;
  double fold_nearest(std::span<const double> centroids, std::int64_t first_index,
                      double* squared_distances, std::int32_t* nearest) override;
  void rate(std::span<const double> candidates, const double* squared_distances,
            const WeightScale& scale, std::span<std::int64_t> gains) override;

 private:
  const Dataset& dataset_;
  std::unique_ptr<SeedingSamples> local_;
  const Ranks& ranks_;
  const RangeWorkers& workers_;
};

}  // namespace lloyd
