// DeviceLoop: passes that the host runs one by one, for PassKernels.
#include <algorithm>

#include <lloyd/plugin/sdk/pass_rules.hpp>

#include "cuda/loop/loop_driven_passes.hpp"

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
  driven_ = std::make_unique<DrivenPasses>(plan_, options);
}

template <class T>
void DeviceLoop<T>::pass(const lloyd::PassRequest& request, lloyd::Observer* observer,
                         lloyd::PassResult& result) {
  use_passes(observer, [&](DrivenPasses& driven) {
    const std::int64_t number = driven.passes;
    bool continues = false;
    // The last pass has been waited for, so that the device no longer reads the buffer.
    std::copy_n(request.centroids, cells(), driven.centroids.data());
    if (number == 0) {
      start_from(driven.centroids.data());
    } else {
      continues = continue_from(driven.centroids.data(), number);
    }
    if (!continues) driven.distances = 0;
    Pass pass = pass_of(number, all_rows());
    if (continues) pass.former_centroids = centroids_[(number + 1) % 2].data();
    pass.changed = &device_state_.data()->changed;
    pass.totals = {sums_[number % 2].data(), counts_[number % 2].data()};
    pass.sums_changes = (number == 0 || continues) && step_.sums_changes();
    step_.assign(pass);
    inertia_.clear(stream_);
    if (request.inertia != nullptr) measure(number, all_rows(), nullptr, inertia_.data());
    sums_[number % 2].download(driven.words.data(), cells(), stream_);
    check(cudaMemcpyAsync(driven.counts.data(), counts_[number % 2].data(),
                          static_cast<std::size_t>(clusters_) * sizeof(std::int64_t),
                          cudaMemcpyDeviceToHost, stream_),
          "copying the counts");
    wait_for_state();
    if (cancelled()) lloyd::throw_cancelled();

    ++driven.passes;
    const auto k = static_cast<std::size_t>(clusters_);
    driven.changes.add_sums({driven.words.data(), static_cast<std::size_t>(cells())}, driven.limbs,
                            request.sums);
    driven.changes.add_counts({driven.counts.data(), k}, request.counts);
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
  upload_centroids(centroids, slot);
  const bool continues = in_float64_ || !needs_float64(centroids);
  if (continues) {
    carry_totals_over(number);
  } else {
    clear_totals(number);
  }
  state_ = {};
  upload_state();
  if (continues) return true;
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
