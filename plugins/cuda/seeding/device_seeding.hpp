// DeviceSeeding: distances and weights of a seeding, in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda {

/// Implements lloyd::SeedingKernels and lloyd::ResidentSeeding over the samples of a step, with
/// distances by the definition in float64. Methods throw StatusError; call them inside guarded(),
/// with the device current.
template <class T>
class DeviceSeeding {
 public:
  /// All references must outlive this object.
  DeviceSeeding(Step<T>& step, const lloyd::DatasetView& dataset, const Stream& stream)
      : step_(step), dataset_(dataset), stream_(stream) {}

  /// SeedingKernels::nearest() and gains().
  void nearest(const lloyd::NearestRequest& request, lloyd::Observer* observer);
  void gains(const lloyd::GainsRequest& request, lloyd::Observer* observer);

  /// The functions of ResidentSeeding.
  void begin();
  double add(std::int64_t row, lloyd::Observer* observer);
  std::int64_t weigh(const lloyd::WeightScale& scale, lloyd::Observer* observer);
  void find(const std::int64_t* positions, std::int64_t count, std::int64_t* rows);
  void rate(const std::int64_t* rows, std::int64_t count, lloyd::Observer* observer,
            std::int64_t* gains);
  /// Frees all device memory but a few words.
  void end();

  /// Device memory for n samples, bytes, besides a few centroids.
  static double device_bytes(double samples);

 private:
  enum class State { none, begun, has_centroids, weighed };

  void require(bool in_order, const char* call) const;
  void gather_centroids(const std::int64_t* rows, std::int64_t count);
  void upload_centroids(const double* centroids, std::int64_t count);
  template <class Body>
  void for_each_piece(std::int64_t centroids, lloyd::Observer* observer, const Body& body);
  void fold(std::int64_t count, std::int64_t first_index, std::int32_t* nearest,
            lloyd::Observer* observer);
  void rate(std::int64_t count, lloyd::Observer* observer, std::int64_t* gains);
  const std::int64_t* fetch(const void* from, std::int64_t count, lloyd::Observer* observer);
  void wait(lloyd::Observer* observer) const;

  Step<T>& step_;
  lloyd::DatasetView dataset_;
  const Stream& stream_;
  State state_ = State::none;
  lloyd::WeightScale scale_;
  DeviceBuffer<double> distances_;            // n
  DeviceBuffer<std::int32_t> nearest_;        // n, if indices are wanted
  DeviceBuffer<double> centroids_;            // m x d
  DeviceBuffer<std::int64_t> rows_;           // m: found, or of the centroids
  DeviceBuffer<unsigned long long> gains_;    // m
  DeviceBuffer<unsigned long long> largest_;  // 1: bits of a float64
  DeviceBuffer<std::int64_t> block_weights_;  // cumulative, one per block of samples
  DeviceBuffer<std::int64_t> positions_;      // m
  DeviceBuffer<char> scan_memory_;
  PinnedBuffer<std::int64_t> fetched_;  // m: results
};

}  // namespace lloyd_cuda
