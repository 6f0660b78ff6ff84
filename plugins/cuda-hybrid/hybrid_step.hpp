// HybridStep: labels from a device, updates on CPU threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <lloyd/plugin/sdk/float32_range.hpp>
#include <lloyd/plugin/sdk/step.hpp>

#include "cuda-hybrid/block_pool.hpp"
#include "cuda-hybrid/centroid_groups.hpp"
#include "cuda-hybrid/chunk_plan.hpp"
#include "cuda-hybrid/label_pipeline.hpp"

namespace lloyd_cuda_hybrid {

/// The step of LloydLoop. Source: M. Zechner and M. Granitzer, "K-Means on the Graphics Processor:
/// Design And Experimental Analysis", 2009, section V, but with a parallel update that overlaps the
/// labelling.
///
/// `Labeller` is constructed from (DatasetView, ParameterList, maximum rows of a chunk). Beside the
/// functions that run_labelled() needs it has
/// - `begin_pass(const GroupFeature<Real>* groups, clusters, profile)` for float and double, called
///   before the chunks of a pass: distances are computed in Real, and copies are timed if `profile`
///   is true;
/// - `labels(slot)`: the labels that arrived, in host memory;
/// - `transfer_ms()`: time of the copies of a profiled pass in milliseconds, else 0.
/// It may throw StatusError.
template <class T, class Labeller>
class HybridStep : public lloyd::StepBase {
 public:
  using value_type = T;  ///< type of the samples: float or double

  /// Copies the samples to the device and starts the threads. Throws StatusError.
  HybridStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters)
      : features_(dataset.features),
        chunk_(parameters.integer("chunk")),
        range_(dataset),
        labeller_(dataset, parameters, ChunkPlan::largest_chunk(dataset.samples, chunk_)),
        pool_(estimate_workers(parameters)) {}

  static int estimate_workers(const lloyd::ParameterList& parameters) {
    const auto threads = static_cast<int>(parameters.integer("threads"));
    return threads > 0 ? threads
                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }

  /// Bytes of labels and centroids, which are held once on the host and once on the device.
  static std::int64_t estimate_bytes(const lloyd::ProblemShape& shape,
                                     const lloyd::ParameterList& parameters) {
    // In float64, so that sizes cannot overflow. float32 samples may need centroids of both types.
    const double groups = static_cast<double>(group_features(shape.clusters, 1)) *
                          static_cast<double>(shape.features);
    const double group = sizeof(GroupFeature<double>) +
                         (sizeof(T) == sizeof(float) ? sizeof(GroupFeature<float>) : 0);
    const auto labels = static_cast<double>(
        kSlots * ChunkPlan::largest_chunk(shape.samples, parameters.integer("chunk")));
    const double bytes = labels * sizeof(std::int32_t) + groups * group;
    return bytes < 0x1p61 ? static_cast<std::int64_t>(bytes) : std::int64_t{1} << 61;
  }

  int workers() const { return pool_.workers(); }
  void begin_fit(const lloyd::StepFitOptions& options) { profile_ = options.profile; }
  void end_fit() { profile_ = false; }
  double transfer_ms() const { return labeller_.transfer_ms(); }

  void begin_pass(const double* centroids, std::int64_t clusters, const lloyd::StepPassOptions&) {
    if constexpr (sizeof(T) == sizeof(float)) {
      if (range_.covers(centroids, clusters)) {
        upload(centroids, clusters, narrow_);
        return;
      }
    }
    // float64 samples are always compared in float64, as the definition requires.
    upload(centroids, clusters, wide_);
  }

  template <class Body>
  void for_each_block(lloyd::RowRange rows, Body&& body) {
    plan_ = ChunkPlan(rows, chunk_, pool_.workers());
    if (std::exchange(assigns_, false)) {
      run_labelled(pool_, plan_, labeller_, body);
    } else {
      run_unlabelled(pool_, plan_, body);
    }
  }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels) const {
    const std::int64_t chunk = plan_.chunk_of(block.begin);
    const std::int32_t* found =
        labeller_.labels(slot_of(chunk)) + (block.begin - plan_.chunk(chunk).begin);
    std::int64_t changed = 0;
    for (std::int64_t i = 0; i < block.size(); ++i) {
      changed += labels[i] != found[i];
      labels[i] = found[i];
    }
    return changed;
  }

 private:
  template <class Real>
  void upload(const double* centroids, std::int64_t clusters,
              std::vector<GroupFeature<Real>>& groups) {
    group_centroids(centroids, clusters, features_, groups);
    labeller_.begin_pass(groups.data(), clusters, profile_);
    assigns_ = true;
  }

  std::int64_t features_;
  std::int64_t chunk_;  // the parameter; 0: chosen
  lloyd::Float32Range range_;
  std::vector<GroupFeature<float>> narrow_;
  std::vector<GroupFeature<double>> wide_;
  bool profile_ = false;  // true: the passes of this fit are profiled
  bool assigns_ = false;  // true: the next pass is an assignment
  ChunkPlan plan_;        // plan of this pass
  Labeller labeller_;
  BlockPool pool_;
};

}  // namespace lloyd_cuda_hybrid
