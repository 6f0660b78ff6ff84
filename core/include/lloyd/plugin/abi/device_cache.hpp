// DeviceCache: an optional interface that evicts the cache of a session's device, for measurements
// that start with cold caches. The host obtains it by name with Session::query().
#pragma once

#include <lloyd/plugin/abi/status.hpp>

namespace lloyd {

/// Name of the interface; a changed class gets a new name.
inline constexpr char kDeviceCache[] = "lloyd.device_cache/1";

/// Part of a session: shares its lifetime, and likewise serves one thread at a time.
class DeviceCache {
 public:
  /// Evicts the data of earlier calls from the last-level cache of the device (the L2 of a GPU),
  /// and returns when this is complete. Does not change the result of any other call. Returns
  /// `out_of_memory` if the memory that it needs is not available.
  virtual Status evict() noexcept = 0;

 protected:
  ~DeviceCache() = default;
};

}  // namespace lloyd
