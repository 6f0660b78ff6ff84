// DeviceLoop: the update on the host, for compensated sums.
#include "cuda/loop/loop_passes.hpp"

namespace lloyd_cuda {

using lloyd::ClusterSums;

// Uses the functions of the SDK that update on the host: for compensated sums, and to fail under
// EmptyClusters::error.
template <class T>
void DeviceLoop<T>::Passes::finish_on_host() {
  LoopState& state = loop_.state_;
  const std::int64_t iteration = state.iterations;
  ClusterSums sums(loop_.plan_, loop_.clusters_);
  if (!sums.is_integer()) {
    loop_.clear_totals(iteration);
    loop_.add_compensated(iteration, loop_.all_rows());
  }
  loop_.fetch_sums(iteration, sums);
  fetch_centroids();
  std::vector<double> next(centroids_.size());
  relocations_ = lloyd::move_centroids(spec_, iteration + 1, sums, *this, loop_.dataset_.features,
                                       centroids_, next);

  const std::int64_t finished = iteration + 1;
  loop_.set_centroids(next.data(), static_cast<std::size_t>(finished % 2));
  const auto changed = static_cast<std::int64_t>(state.changed);
  state = {};
  state.iterations = finished;
  state.last_changed = changed;
  state.shift = lloyd::squared_shift(centroids_, next);
  loop_.upload_state();
}

template <class T>
std::vector<lloyd::FarSample> DeviceLoop<T>::Passes::find_farthest(std::int64_t wanted) {
  return loop_.find_farthest(wanted, loop_.all_rows(), loop_.state_.iterations);
}

template <class T>
void DeviceLoop<T>::Passes::move_sample(const lloyd::Relocation&, ClusterSums&) {
  throw lloyd::StatusError(lloyd::StatusCode::internal,
                           "a sample is moved on the host, but its sums are integers");
}

template <class T>
void DeviceLoop<T>::Passes::recompute_sums(const std::vector<lloyd::Relocation>& relocations,
                                           ClusterSums& sums) {
  const std::int64_t iteration = loop_.state_.iterations;
  const auto set_label = [&](std::int64_t row, std::int32_t label) {
    loop_.labels_.upload(&label, 1, loop_.stream_, row);
    loop_.stream_.synchronize();  // `label` is gone afterwards
  };
  for (const auto& [sample, to] : relocations) set_label(sample.row, to);
  loop_.clear_totals(iteration);
  loop_.add_compensated(iteration, loop_.all_rows());
  loop_.fetch_sums(iteration, sums);
  for (const auto& [sample, to] : relocations) set_label(sample.row, sample.label);
}

template class DeviceLoop<float>::Passes;
template class DeviceLoop<double>::Passes;

}  // namespace lloyd_cuda
