// DeviceLoop: the update of an iteration that the device could not finish.
#include <lloyd/plugin/iteration_rules.hpp>

#include "cuda/loop.hpp"

namespace lloyd_cuda {

using lloyd::ClusterSums;
using lloyd::FitSpec;
using lloyd::IterationRecord;
using lloyd::RowRange;
using lloyd::StopReason;

// The update of an iteration that the device could not finish: the same rules by the same functions
// as on the CPU.
template <class T>
void DeviceLoop<T>::finish_on_host(const FitSpec& spec, bool labels_are_there) {
  const std::int64_t iteration = state_.iterations;
  state_.halt = kHaltNone;
  relocations_ = 0;
  if (!labels_are_there) {
    put_state();
    Pass pass = pass_of(iteration, all_rows());
    pass.changed = &device_state_.data()->changed;
    step_.assign(pass);
    wait();
    fetch_state();
    if (cancelled()) {
      state_.iterations = iteration;
      return;
    }
  }
  std::vector<std::int32_t> labels;
  ClusterSums sums(plan_, clusters_);
  if (plan_.is_integer()) {
    fetch_sums(iteration, sums);
  } else {
    labels.resize(static_cast<std::size_t>(dataset_.samples));
    labels_.download(labels.data(), dataset_.samples, stream_);
    stream_.synchronize();
    sums.add(rows(), dataset_.stride, dataset_.samples, labels.data());
  }
  relocations_ = relocate(spec, sums, labels);

  std::vector<double> centroids(static_cast<std::size_t>(cells()));
  centroids_[iteration % 2].download(centroids.data(), cells(), stream_);
  stream_.synchronize();
  const std::vector<double> next = lloyd::next_centroids(sums, centroids, dataset_.features);

  IterationRecord record;
  record.iteration = iteration + 1;
  record.changed = static_cast<std::int64_t>(state_.changed);
  record.relocations = relocations_;
  record.shift = lloyd::squared_shift(centroids, next);
  const StopReason reason = lloyd::stop_reason(spec, record);

  const auto half = static_cast<std::size_t>(record.iteration % 2);
  centroids_[half].upload(next.data(), cells(), stream_);
  if constexpr (sizeof(T) == sizeof(float)) {
    enqueue_rounding(centroids_[half].data(), rounded_[half].data(), cells(), stream_);
  }
  sums_[half].fill_bytes(0, stream_);
  counts_[half].fill_bytes(0, stream_);
  state_ = {};
  state_.iterations = record.iteration;
  state_.last_changed = record.changed;
  state_.shift = record.shift;
  state_.stop_reason = static_cast<std::int32_t>(reason);
  state_.halt = reason == StopReason::none ? kHaltNone : kHaltStopped;
  put_state();
}

// Applies the policy to clusters without samples; returns how many were moved. `labels` are those
// of all samples where the sums are compensated.
template <class T>
std::int64_t DeviceLoop<T>::relocate(const FitSpec& spec, ClusterSums& sums,
                                     std::vector<std::int32_t>& labels) {
  const std::vector<std::int32_t> empty = lloyd::empty_clusters(sums);
  if (empty.empty() || spec.empty_clusters == lloyd::EmptyClusters::keep) return 0;
  if (spec.empty_clusters == lloyd::EmptyClusters::error) {
    lloyd::throw_empty_cluster(empty.front(), state_.iterations + 1);
  }
  FarthestPass farthest(clusters_);
  step_.for_each_part(all_rows(), [&](RowRange part, const Samples<T>& samples) {
    farthest.add(part, samples, centroids_[state_.iterations % 2].data(), labels_.data(), stream_);
  });
  const std::vector<lloyd::Relocation> moves =
      lloyd::choose_relocations(empty, farthest.sorted(), sums);
  if (plan_.is_integer()) {
    for (const auto& [sample, to] : moves) {
      sums.move(rows() + sample.row * dataset_.stride, sample.label, to);
    }
  } else {
    // Taking a large value out of a compensated sum would lose the small ones: sum again.
    for (const auto& [sample, to] : moves) labels[static_cast<std::size_t>(sample.row)] = to;
    sums.clear();
    sums.add(rows(), dataset_.stride, dataset_.samples, labels.data());
  }
  return static_cast<std::int64_t>(moves.size());
}

template class DeviceLoop<float>;
template class DeviceLoop<double>;

}  // namespace lloyd_cuda
