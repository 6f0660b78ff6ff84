// It offers to evict the cache of its device, and fails to.
#include <string_view>

#include <lloyd/plugin/abi/device_cache.hpp>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

class FailingCache final : public lloyd::DeviceCache {
 public:
  lloyd::Status evict() noexcept override {
    return lloyd::Status::error(lloyd::StatusCode::device_error, "the device does not answer");
  }
};

void* query(lloyd::Session& honest, const char* interface_name) {
  static FailingCache cache;
  if (std::string_view(interface_name) != lloyd::kDeviceCache) return honest.query(interface_name);
  return static_cast<lloyd::DeviceCache*>(&cache);
}

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR(.query = query);
