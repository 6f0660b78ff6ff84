// DeviceLoop: relocation of empty clusters on the device.
#include "cuda/loop/loop_passes.hpp"
#include "cuda/relocation/relocation_pass.hpp"

namespace lloyd_cuda {

using lloyd::RowRange;

// Enqueues the selection of the farthest of `rows` by the labels and centroids of an iteration.
// `wanted` > 0.
template <class T>
const FarthestSelection& DeviceLoop<T>::select_farthest(std::int64_t wanted, RowRange rows,
                                                        std::int64_t iteration) {
  if (farthest_ == nullptr || farthest_->wanted() != wanted) {
    farthest_.reset();
    farthest_ = std::make_unique<FarthestSelection>(wanted);
  }
  AssignedRows assigned;
  assigned.rows = rows;
  assigned.centroids = centroids_[iteration % 2].data();
  assigned.labels = labels_.data();
  assigned.halt = &device_state_.data()->halt;
  farthest_->enqueue(step_, assigned, stream_);
  return *farthest_;
}

// The farthest of `rows` by the labels and centroids of an iteration.
template <class T>
std::vector<lloyd::FarSample> DeviceLoop<T>::find_farthest(std::int64_t wanted, RowRange rows,
                                                           std::int64_t iteration) {
  if (wanted == 0) return {};
  const FarthestSelection& selection = select_farthest(wanted, rows, iteration);
  wait();
  if (cancel_raised_) lloyd::throw_cancelled();  // the result may be incomplete
  return selection.fetch(stream_);
}

// Finishes an iteration that halted because a cluster is empty, or whose sums are compensated.
template <class T>
void DeviceLoop<T>::Passes::finish_halted() {
  loop_.state_.halt = kHaltNone;
  if (loop_.plan_.is_integer() && spec_.empty_clusters == lloyd::EmptyClusters::relocate) {
    finish_by_relocating();
  } else {
    finish_on_host();
  }
}

// lloyd::move_centroids() in kernels. If it is cancelled, the iteration is not finished.
template <class T>
void DeviceLoop<T>::Passes::finish_by_relocating() {
  const Stream& stream = loop_.stream_;
  const std::int64_t iteration = loop_.state_.iterations;
  loop_.upload_state();
  if (!changes_wanted_) {  // labels were not kept up to date
    Pass pass = loop_.pass_of(iteration, loop_.all_rows());
    pass.changed = &loop_.device_state_.data()->changed;
    loop_.step_.assign(pass);
  }

  Finish finish = loop_.finish_of(spec_, iteration);
  RelocationUpdate update;
  update.clusters = finish.clusters;
  update.features = finish.features;
  update.farthest = loop_.select_farthest(spec_.clusters, loop_.all_rows(), iteration).selected();
  update.scale = finish.scale;
  update.totals = finish.next_totals;
  loop_.relocations_.resize(spec_.clusters);
  update.relocations = loop_.relocations_.data();
  update.state = finish.state;
  // Samples are moved in the totals of the next iteration. Those of this one stay as they are: they
  // match the labels, and the next iteration may continue from them.
  loop_.copy_totals_to(iteration + 1);
  enqueue_choose_relocations(update, stream);
  loop_.step_.for_each_part(loop_.all_rows(), nullptr,
                            [&](RowRange part, const Samples<T>& samples) {
                              enqueue_move_samples(update, part, samples, stream);
                            });

  finish.totals = finish.next_totals;
  finish.ring = ring_;
  finish.ring.inertia_slots = nullptr;  // the inertia was reported when the iteration halted
  finish.keeps_totals = true;
  finish.halt_when_empty = false;
  finish.relocates = true;
  enqueue_finish(finish, stream);
  loop_.carry_totals_over(iteration + 1);
  loop_.wait_for_state();
  if (loop_.cancelled()) {
    loop_.state_.iterations = iteration;
  } else {
    relocations_ = loop_.state_.relocations;
  }
}

template class DeviceLoop<float>;
template class DeviceLoop<double>;

}  // namespace lloyd_cuda
