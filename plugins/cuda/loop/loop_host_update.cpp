// DeviceLoop: the update of an iteration that the device could not finish.
#include "cuda/loop/loop_passes.hpp"
#include "cuda/rows/device_rows.hpp"

namespace lloyd_cuda {

using lloyd::ClusterSums;

// Uses the functions of the SDK that update on the host.
template <class T>
void DeviceLoop<T>::Passes::finish_on_host() {
  LoopState& state = loop_.state_;
  const std::int64_t iteration = state.iterations;
  state.halt = kHaltNone;
  if (!changes_wanted_) {  // labels were not kept up to date
    loop_.upload_state();
    Pass pass = loop_.pass_of(iteration, loop_.all_rows());
    pass.changed = &loop_.device_state_.data()->changed;
    loop_.step_.assign(pass);
    loop_.wait();
    loop_.fetch_state();
    if (loop_.cancelled()) {
      state.iterations = iteration;
      return;
    }
  }
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
  const auto slot = static_cast<std::size_t>(finished % 2);
  loop_.set_centroids(next.data(), slot);
  if (double* const reported = reported_centroids(finished)) {
    std::copy(next.begin(), next.end(), reported);
  }
  loop_.carry_totals_over(finished);  // excluding relocations, to match the labels on the device
  const auto changed = static_cast<std::int64_t>(state.changed);
  state = {};
  state.iterations = finished;
  state.last_changed = changed;
  state.shift = lloyd::squared_shift(centroids_, next);
  loop_.upload_state();
}

template <class T>
std::vector<lloyd::FarSample> DeviceLoop<T>::Passes::find_farthest(std::int64_t wanted) {
  std::vector<lloyd::FarSample> found =
      loop_.find_farthest(wanted, loop_.all_rows(), loop_.state_.iterations);
  far_rows_.clear();
  if (!is_on_device(loop_.dataset_) || found.empty()) return found;
  far_values_ = loop_.fetch_rows(found);
  for (std::size_t i = 0; i < found.size(); ++i) far_rows_.emplace(found[i].row, i);
  return found;
}

// The values of a sample of find_farthest().
template <class T>
const T* DeviceLoop<T>::Passes::far_row(std::int64_t row) const {
  const lloyd::DatasetView& dataset = loop_.dataset_;
  if (!is_on_device(dataset)) return static_cast<const T*>(dataset.data) + row * dataset.stride;
  const auto found = far_rows_.find(row);
  if (found != far_rows_.end()) {
    return far_values_.data() + static_cast<std::ptrdiff_t>(found->second) * dataset.features;
  }
  throw lloyd::StatusError(lloyd::StatusCode::internal,
                           "a cluster is moved to a sample that is not among the farthest");
}

template <class T>
void DeviceLoop<T>::Passes::move_sample(const lloyd::Relocation& relocation, ClusterSums& sums) {
  const lloyd::FarSample& sample = relocation.sample;
  sums.move(far_row(sample.row), sample.label, relocation.to);
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
