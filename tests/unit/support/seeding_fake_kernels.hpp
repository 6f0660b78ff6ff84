// A fake backend with seeding kernels, which a test may falsify.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include <lloyd/plugin/abi/resident_seeding.hpp>
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

// One answer of a seeding; a lie about the other members has no effect.
struct SeedingAnswer {
  double largest = 0;
  std::int64_t total = 0;
  std::int64_t row = 0;
  std::int64_t gain = 0;
};
using SeedingLie = std::function<void(SeedingAnswer&)>;

// A seeding that follows the definition, but for a lie.
template <class T>
class FakeResidentSeeding final : public ResidentSeeding {
 public:
  explicit FakeResidentSeeding(const DatasetView& dataset) : dataset_(dataset) {}

  Status begin_seeding() noexcept override {
    ++begun;
    distances_.assign(static_cast<std::size_t>(dataset_.samples),
                      std::numeric_limits<double>::infinity());
    return {};
  }
  Status add(std::int64_t row, Observer* observer, double* largest) noexcept override {
    if (observer->stop_requested()) return Status::error(StatusCode::cancelled, "");
    const std::vector<double> centroid = sample(row);
    for (std::size_t i = 0; i < distances_.size(); ++i) {
      distances_[i] = std::min(distances_[i], distance_to(i, centroid));
    }
    *largest = told({.largest = *std::max_element(distances_.begin(), distances_.end())}).largest;
    return {};
  }
  Status weigh(const WeightScale& scale, Observer*, std::int64_t* total) noexcept override {
    scale_ = scale;
    *total = 0;
    for (const double distance : distances_) *total += scale.weight(distance);
    *total = told({.total = *total}).total;
    return {};
  }
  Status find(const std::int64_t* positions, std::int64_t count,
              std::int64_t* rows) noexcept override {
    for (std::int64_t p = 0; p < count; ++p) {
      std::int64_t rest = positions[p];
      std::size_t i = 0;
      while (rest >= scale_.weight(distances_[i])) rest -= scale_.weight(distances_[i++]);
      rows[p] = told({.row = static_cast<std::int64_t>(i)}).row;
    }
    return {};
  }
  Status rate(const std::int64_t* rows, std::int64_t count, Observer*,
              std::int64_t* gains) noexcept override {
    for (std::int64_t r = 0; r < count; ++r) {
      const std::vector<double> candidate = sample(rows[r]);
      gains[r] = 0;
      for (std::size_t i = 0; i < distances_.size(); ++i) {
        const double least = std::min(distances_[i], distance_to(i, candidate));
        gains[r] += scale_.weight(distances_[i]) - scale_.weight(least);
      }
      gains[r] = told({.gain = gains[r]}).gain;
    }
    return {};
  }
  void end_seeding() noexcept override { ++ended; }

  static inline SeedingLie lie;
  static inline int begun = 0;
  static inline int ended = 0;

 private:
  const T* row_of(std::int64_t i) const {
    return static_cast<const T*>(dataset_.data) + i * dataset_.stride;
  }
  std::vector<double> sample(std::int64_t row) const {
    return {row_of(row), row_of(row) + dataset_.features};
  }
  double distance_to(std::size_t i, const std::vector<double>& centroid) const {
    return squared_distance(row_of(static_cast<std::int64_t>(i)), centroid.data(),
                            dataset_.features);
  }
  static SeedingAnswer told(SeedingAnswer answer) {
    if (lie) lie(answer);
    return answer;
  }

  DatasetView dataset_;
  std::vector<double> distances_;
  WeightScale scale_;
};

// The backend of ResidentSeedingStep: float32 and float64 samples.
inline constexpr BackendInfo kResidentInfo = [] {
  BackendInfo info = kInfo;
  info.capabilities |= kCapabilityFloat64;
  return info;
}();

template <class T>
class ResidentSeedingStep : public FakeStep<T> {
 public:
  ResidentSeedingStep(const DatasetView& dataset, const ParameterList& parameters)
      : FakeStep<T>(dataset, parameters), seeding_(dataset) {}
  void* query(std::string_view name) {
    return name == kResidentSeeding ? static_cast<ResidentSeeding*>(&seeding_) : nullptr;
  }

 private:
  FakeResidentSeeding<T> seeding_;
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
