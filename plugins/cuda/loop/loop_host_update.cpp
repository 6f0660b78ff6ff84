// DeviceLoop: the update of an iteration that the device could not finish.
#include "cuda/loop/loop_passes.hpp"

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
  if (sums.is_integer()) {
    loop_.fetch_sums(iteration, sums);
  } else {
    sums.add(loop_.rows(), loop_.dataset_.stride, loop_.dataset_.samples, labels());
  }
  relocations_ = lloyd::relocate_empty_clusters(spec_, iteration + 1, sums, *this);

  fetch_centroids();
  std::vector<double> next = centroids_;
  lloyd::move_to_means(sums, loop_.dataset_.features, next);

  const std::int64_t finished = iteration + 1;
  const auto slot = static_cast<std::size_t>(finished % 2);
  loop_.upload_centroids(next.data(), slot);
  loop_.carry_totals_over(finished);  // without relocated samples, as the labels on the device
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
void DeviceLoop<T>::Passes::move_sample(const lloyd::Relocation& relocation, ClusterSums& sums) {
  const lloyd::FarSample& sample = relocation.sample;
  sums.move(loop_.rows() + sample.row * loop_.dataset_.stride, sample.label, relocation.to);
}

template <class T>
void DeviceLoop<T>::Passes::recompute_sums(const std::vector<lloyd::Relocation>& relocations,
                                           ClusterSums& sums) {
  lloyd::with_relocated_labels(relocations, labels_.data(), [&] {
    sums.clear();
    sums.add(loop_.rows(), loop_.dataset_.stride, loop_.dataset_.samples, labels_.data());
  });
}

template class DeviceLoop<float>::Passes;
template class DeviceLoop<double>::Passes;

}  // namespace lloyd_cuda
