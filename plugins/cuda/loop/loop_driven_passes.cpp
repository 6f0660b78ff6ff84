// DeviceLoop: passes that the host runs one by one, for PassKernels.
#include <algorithm>

#include <lloyd/plugin/sdk/pass_rules.hpp>

#include "cuda/loop/loop_driven_passes.hpp"
#include "cuda/passes/change_pass.hpp"

namespace lloyd_cuda {

template <class T>
DeviceLoop<T>::~DeviceLoop() = default;

template <class T>
void DeviceLoop<T>::end_passes() {
  driven_.reset();
}

template <class T>
void DeviceLoop<T>::begin_passes(const lloyd::PassOptions& options) {
  end_passes();
  lloyd::check_pass_options(plan_, options);
  prepare(options.clusters, nullptr);
  driven_ = std::make_unique<DrivenPasses>(options, dataset_.features);
}

template <class T>
void DeviceLoop<T>::pass(const lloyd::PassRequest& request, lloyd::Observer* observer,
                         lloyd::PassResult& result) {
  use_passes(observer, [&](DrivenPasses& driven) {
    const std::int64_t number = driven.passes;
    bool continues = false;
    if (number == 0) {
      std::copy_n(request.centroids, cells(), driven.centroids.data());
      start_from(driven.centroids.data());
    } else {
      continues = continue_from(request.centroids, number);
    }
    if (!continues) driven.distances = 0;
    Pass pass = pass_of(number, all_rows());
    if (continues) pass.former_centroids = centroids_[(number + 1) % 2].data();
    pass.changed = &device_state_.data()->changed;
    pass.totals = {sums_[number % 2].data(), counts_[number % 2].data()};
    pass.sums_changes = (number == 0 || continues) && step_.sums_changes();
    step_.assign(pass);
    const bool wants_sums = request.sums != nullptr;
    enqueue_changes(pass.totals, {sums_[(number + 1) % 2].data(), counts_[(number + 1) % 2].data()},
                    {wants_sums ? driven.sum_changes.device_data() : nullptr,
                     driven.count_changes.device_data()},
                    clusters_, dataset_.features, stream_);
    if (request.inertia != nullptr) {
      inertia_.clear(stream_);
      measure(number, all_rows(), nullptr, inertia_.data());
    }
    wait_for_state();
    if (cancelled()) lloyd::throw_cancelled();

    ++driven.passes;
    for (std::int64_t i = 0; wants_sums && i < cells(); ++i) {
      const lloyd::SumWords& change = driven.sum_changes[i];
      lloyd::add_limbs(static_cast<lloyd::Int128>(change.high) << 64 | change.low, driven.limbs,
                       request.sums + i, static_cast<std::size_t>(cells()));
    }
    for (std::int64_t c = 0; request.counts != nullptr && c < clusters_; ++c) {
      request.counts[c] += static_cast<std::int64_t>(driven.count_changes[c]);
    }
    if (request.inertia != nullptr) request.inertia->add(inertia_.fetch(stream_));
    result.changed = static_cast<std::int64_t>(state_.changed);
    const std::int64_t counted = step_.distances();
    result.distances = counted >= 0 ? counted - driven.distances : dataset_.samples * clusters_;
    driven.distances = std::max<std::int64_t>(counted, 0);
    result.exact_fallbacks = -1;
  });
}

// Sets the state before a pass that follows another one. Returns false if the step starts anew,
// because these centroids, unlike those before, need float64.
template <class T>
bool DeviceLoop<T>::continue_from(const double* centroids, std::int64_t number) {
  const auto slot = static_cast<std::size_t>(number % 2);
  // pass() has waited for the last pass, so that host_state_ and the pinned centroids may be
  // written.
  state_ = {};
  enqueue_state();
  carry_totals_over(number);
  std::copy_n(centroids, cells(), driven_->centroids.data());
  upload_centroids(driven_->centroids.data(), slot);
  if (in_float64_ || !needs_float64(centroids)) return true;
  clear_totals(number);
  in_float64_ = true;
  step_.prepare(clusters_, cancel_requested_);
  return false;
}

template <class T>
std::int64_t DeviceLoop<T>::farthest(std::int64_t wanted, lloyd::Observer* observer,
                                     lloyd::FarSample* samples) {
  std::vector<lloyd::FarSample> found;
  use_passes(observer, [&](DrivenPasses& driven) {
    lloyd::require_pass_labels(driven.passes > 0);
    found = find_farthest(std::clamp<std::int64_t>(wanted, 0, dataset_.samples), all_rows(),
                          driven.passes - 1);
  });
  std::copy(found.begin(), found.end(), samples);
  return std::ssize(found);
}

template <class T>
void DeviceLoop<T>::pass_labels(std::int32_t* labels) {
  use_passes(nullptr, [&](DrivenPasses& driven) {
    lloyd::require_pass_labels(driven.passes > 0);
    labels_.download(labels, dataset_.samples, stream_);
    stream_.synchronize();
  });
}

// Calls body(passes), and ends the passes if it throws.
template <class T>
template <class Body>
void DeviceLoop<T>::use_passes(lloyd::Observer* observer, const Body& body) {
  lloyd::require_passes(driven_ != nullptr);
  observer_ = observer;
  cancel_raised_ = false;
  try {
    body(*driven_);
  } catch (...) {
    driven_.reset();
    throw;
  }
}

template class DeviceLoop<float>;
template class DeviceLoop<double>;

}  // namespace lloyd_cuda
