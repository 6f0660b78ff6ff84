// MatrixSamples: seeding on a matrix in memory, with the core's threads.
#pragma once

#include <lloyd/dataset.hpp>

#include "parallel/range_workers.hpp"
#include "seeding/seeding_samples.hpp"

namespace lloyd {

class MatrixSamples final : public SeedingSamples {
 public:
  /// `matrix`, `workers` and `multiplicities` (see SeedingSamples) must outlive this object.
  MatrixSamples(const Matrix& matrix, const RangeWorkers& workers,
                const std::int64_t* multiplicities = nullptr)
      : matrix_(matrix), workers_(workers), multiplicities_(multiplicities) {}

  std::int64_t samples() const override { return matrix_.rows; }
  std::int64_t features() const override { return matrix_.columns; }
  const std::int64_t* multiplicities() const override { return multiplicities_; }
  void copy_rows(std::span<const std::int64_t> indices, double* values) const override;
  double fold_nearest(std::span<const double> centroids, std::int64_t first_index,
                      double* squared_distances, std::int32_t* nearest) override;
  void rate(std::span<const double> candidates, const double* squared_distances,
            const WeightScale& scale, std::span<std::int64_t> gains) override;

 private:
  const Matrix& matrix_;
  const RangeWorkers& workers_;
  const std::int64_t* multiplicities_;
};

}  // namespace lloyd
