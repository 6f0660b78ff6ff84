#include "fit/ranks/rank_device.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lloyd::apps {
namespace {

constexpr std::string_view kDevice = "device";

// Null if the backend has no such parameter.
const ParameterInfo* find_device_parameter(const ParameterSet& parameters) {
  const std::vector<ParameterInfo>& schema = parameters.schema();
  const auto found = std::find_if(schema.begin(), schema.end(), [](const ParameterInfo& parameter) {
    return parameter.name == kDevice;
  });
  return found == schema.end() ? nullptr : &*found;
}

}  // namespace

int local_rank(const Ranks& ranks) {
  const std::vector<HostName> hosts = ranks.gather(host_name());
  const auto mine = hosts.begin() + ranks.rank();
  return static_cast<int>(std::count(hosts.begin(), mine, *mine));
}

bool has_chosen_device(const ParameterSet& parameters) {
  const ParameterInfo* const device = find_device_parameter(parameters);
  if (device == nullptr) return false;
  const ParameterSet defaults(device, 1);
  return parameters.text(kDevice) != defaults.text(kDevice);
}

void use_own_device(std::span<const DeviceInfo> devices, bool is_chosen, ParameterSet& parameters,
                    const Ranks& ranks) {
  const auto place = static_cast<std::size_t>(local_rank(ranks));
  if (is_chosen || devices.empty() || find_device_parameter(parameters) == nullptr) return;
  parameters.set(kDevice, std::to_string(devices[place % devices.size()].index));
}

void use_own_device(ChosenBackend& chosen, const Ranks& ranks) {
  use_own_device(chosen.backend->devices(), chosen.given.contains(std::string(kDevice)),
                 chosen.parameters, ranks);
}

}  // namespace lloyd::apps
