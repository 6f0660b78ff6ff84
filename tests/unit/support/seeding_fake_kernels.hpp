// A fake backend with seeding kernels, which a test may falsify.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

#include <lloyd/plugin/abi/seeding_kernels.hpp>

#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd::fake {

struct KernelAnswer {
  double* squared_distances;
  std::int32_t* nearest;
  Status status;
};
using KernelLie = std::function<void(KernelAnswer&)>;

// Kernels that follow the definition; a lie may falsify the answer.
class FakeKernels final : public SeedingKernels {
 public:
  explicit FakeKernels(const DatasetView& dataset) : dataset_(dataset) {}

  Status nearest(const NearestRequest& request, Observer* observer) noexcept override {
    ++calls;
    if (observer->stop_requested()) return Status::error(StatusCode::cancelled, "");
    for (std::int64_t i = 0; i < dataset_.samples; ++i) {
      for (std::int64_t c = 0; c < request.count; ++c) {
        const double distance = distance_to(i, request.centroids, c);
        if (!(distance < request.squared_distances[i])) continue;
        request.squared_distances[i] = distance;
        if (request.nearest == nullptr) continue;
        request.nearest[i] = static_cast<std::int32_t>(request.first_index + c);
      }
    }
    KernelAnswer answer{request.squared_distances, request.nearest, {}};
    if (lie) lie(answer);
    return answer.status;
  }

  Status gains(const GainsRequest& request, Observer*) noexcept override {
    for (std::int64_t c = 0; c < request.count; ++c) {
      request.gains[c] = 0;
      for (std::int64_t i = 0; i < dataset_.samples; ++i) {
        const double current = request.squared_distances[i];
        const double least = std::min(current, distance_to(i, request.candidates, c));
        request.gains[c] += request.scale.weight(current) - request.scale.weight(least);
      }
    }
    return {};
  }

  static inline KernelLie lie;
  static inline int calls = 0;

 private:
  double distance_to(std::int64_t i, const double* centroids, std::int64_t c) const {
    const std::int64_t d = dataset_.features;
    return squared_distance(static_cast<const float*>(dataset_.data) + i * dataset_.stride,
                            centroids + c * d, d);
  }

  DatasetView dataset_;
};

template <class T>
class SeedingStep : public FakeStep<T> {
 public:
  SeedingStep(const DatasetView& dataset, const ParameterList& parameters)
      : FakeStep<T>(dataset, parameters), kernels_(dataset) {}
  void* query(std::string_view name) {
    return name == kSeedingKernels ? static_cast<SeedingKernels*>(&kernels_) : nullptr;
  }

 private:
  FakeKernels kernels_;
};

}  // namespace lloyd::fake
