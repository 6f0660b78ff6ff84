// FarthestSelection: selects the samples farthest from their own centroids, for relocation.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/requests.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda {

/// Orders samples as lloyd::FarthestSamples does: the farther sample has the larger key, and of
/// equally far ones that with the smaller row. Compared by `distance`, then `rows_after`.
struct SelectionKey {
  unsigned long long
      distance;  ///< bits of the squared distance; non-negative float64 order like their bits
  unsigned long long rows_after;  ///< number of searched rows after this one
};

/// State of a radix select, in device memory.
struct SelectionState {
  SelectionKey threshold;    ///< lower bound on the keys of candidates; unknown digits are 0
  std::int64_t above;        ///< number of samples whose known digits exceed those of `threshold`
  std::int32_t settled;      ///< 1: the candidates fit into the buffer; later rounds do nothing
  unsigned long long found;  ///< candidates that have been gathered
};

/// Assigned samples of a data set. Pointers are device memory.
struct AssignedRows {
  lloyd::RowRange rows;                  ///< of the data set
  const double* centroids = nullptr;     ///< k x d
  const std::int32_t* labels = nullptr;  ///< n
  const std::int32_t* halt = nullptr;    ///< kernels return immediately if it is not 0
};

/// The result of a selection. Pointers are device memory.
struct SelectedSamples {
  /// min(wanted, *found) samples at a distance > 0, by descending distance, then ascending row.
  const lloyd::FarSample* samples = nullptr;
  std::int64_t wanted = 0;
  const unsigned long long* found = nullptr;
};

/// Selects the `wanted` farthest samples on the device, without the host. A radix select
/// determines the key of the `wanted`-th farthest sample digit by digit, the most significant one
/// first: in each round, one kernel counts the samples by their next digit, and one picks the
/// digit. Once the candidates (samples whose key is not below the known digits) fit into the
/// buffer, they are gathered and sorted. Distances are not stored; each round computes them again.
/// Usually two or three rounds count; the others return immediately.
/// Source: T. Alabi, J. D. Blanchard, B. Gordon, R. Steinbach, "Fast k-selection algorithms for
/// graphics processing units", ACM Journal of Experimental Algorithmics 17, 2012 (radixSelect).
class FarthestSelection {
 public:
  /// Candidates that may be sorted in addition to those wanted.
  static constexpr std::int64_t kSpareCandidates = std::int64_t{1} << 13;
  /// Device memory of this object for `wanted` samples, bytes: candidates, as much to sort them,
  /// and a histogram.
  static constexpr double device_bytes(double wanted) {
    return 2 * (wanted + kSpareCandidates) * sizeof(lloyd::FarSample) + (1 << 16);
  }

  /// For `wanted` > 0 samples. Allocates device_bytes(wanted). Throws StatusError.
  explicit FarthestSelection(std::int64_t wanted);

  std::int64_t wanted() const { return wanted_; }
  /// Enqueues the selection from `assigned`, all of whose labels are in [0, k). `step` has the
  /// samples; if it stops before the last part, because it is cancelled, the result is undefined.
  template <class T>
  void enqueue(Step<T>& step, const AssignedRows& assigned, cudaStream_t stream);
  /// The result of the last selection, for kernels; valid until the next one.
  SelectedSamples selected() const { return {candidates_.data(), wanted_, &state_.data()->found}; }
  /// Waits for the stream and copies the result to the host.
  std::vector<lloyd::FarSample> fetch(cudaStream_t stream) const;

 private:
  void sort(char* memory, std::size_t& bytes, cudaStream_t stream) const;

  std::int64_t wanted_;
  DeviceBuffer<lloyd::FarSample> candidates_;
  DeviceBuffer<char> sorting_memory_;
  DeviceBuffer<unsigned long long> histogram_;
  DeviceBuffer<SelectionState> state_{1};
};

}  // namespace lloyd_cuda
