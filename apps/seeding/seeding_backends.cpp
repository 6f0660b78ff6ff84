#include "seeding/seeding_backends.hpp"

#include <algorithm>

namespace lloyd::apps {

std::vector<std::shared_ptr<const LoadedBackend>> available_seeding_backends(
    const Context& context) {
  isolated::IsolatedPlugins plugins(context.plugin_limit());
  Registry registry(Registry::default_folders(context.plugin_folders), plugins.loader());
  std::vector<std::shared_ptr<const LoadedBackend>> backends = registry.load_all();
  std::erase_if(backends, [](const auto& backend) { return !backend->available(); });
  std::stable_partition(backends.begin(), backends.end(), [](const auto& backend) {
    return std::none_of(backend->devices().begin(), backend->devices().end(),
                        [](const DeviceInfo& device) { return device.kind == DeviceKind::gpu; });
  });
  return backends;
}

}  // namespace lloyd::apps
