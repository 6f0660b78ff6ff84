// A backend that fulfils its claims.
#include <string_view>

#include <lloyd/plugin/abi/device_cache.hpp>
#include <lloyd/plugin/abi/session_notes.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>

#include "bad_plugins/support/bad_plugin.hpp"

namespace lloyd::bad {
namespace {

template <class T>
struct HonestStep : RowStep<HonestStep<T>, T>, SessionNotes, DeviceCache {
  using RowStep<HonestStep<T>, T>::RowStep;
  std::int32_t label(const T* x) const {
    return nearest_centroid(x, this->centroids, this->clusters, this->dataset.features).label;
  }
  const char* notes() const noexcept override { return "one sample after another"; }
  Status evict() noexcept override { return {}; }
  void* query(std::string_view name) {
    if (name == kSessionNotes) return static_cast<SessionNotes*>(this);
    if (name == kDeviceCache) return static_cast<DeviceCache*>(this);
    return nullptr;
  }
};

constexpr BackendInfo kInfo = exact_step_info("a fixture of the tests");

}  // namespace

Backend* make_honest() {
  return new StepBackend<HonestStep, kInfo>;
}

Status create_honest(Backend** backend) noexcept {
  return StepBackend<HonestStep, kInfo>::create(backend);
}

Status probe_honest(DeviceList* devices) noexcept {
  return StepBackend<HonestStep, kInfo>::probe(devices);
}

}  // namespace lloyd::bad
