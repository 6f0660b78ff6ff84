// SessionSamples: seeding with the kernels of a backend's session.
#pragma once

#include <string>

#include <lloyd/dataset.hpp>

#include "parallel/range_workers.hpp"
#include "seeding/seeding_samples.hpp"

namespace lloyd {

class SessionSamples final : public SeedingSamples {
 public:
  /// `kernels` belong to a session on `dataset`. All references must outlive this object. Methods
  /// throw BackendError, with the name `backend` in front, if the kernels fail or return an
  /// impossible result.
  SessionSamples(const Dataset& dataset, SeedingKernels& kernels, std::string backend,
                 const RangeWorkers& workers)
      : dataset_(dataset), kernels_(kernels), backend_(std::move(backend)), workers_(workers) {}

  std::int64_t samples() const override { return dataset_.samples(); }
  std::int64_t features() const override { return dataset_.features(); }
  void copy_rows(std::span<const std::int64_t> indices, double* values) const override;
  double fold_nearest(std::span<const double> centroids, std::int64_t first_index,
                      double* squared_distances, std::int32_t* nearest) override;
  void rate(std::span<const double> candidates, const double* squared_distances,
            const WeightScale& scale, std::span<std::int64_t> gains) override;

 private:
  double largest_of(const double* squared_distances, const std::int32_t* nearest,
                    std::int64_t centroids) const;

  const Dataset& dataset_;
  SeedingKernels& kernels_;
  std::string backend_;
  const RangeWorkers& workers_;
};

}  // namespace lloyd
