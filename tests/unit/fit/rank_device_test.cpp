// The device that each rank of a host uses.
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/parameter_set.hpp>

#include "fit/ranks/rank_device.hpp"
#include "unit/support/run_ranks.hpp"

namespace lloyd::apps {
namespace {

constexpr ParameterInfo kSchema[] = {integer_parameter("threads", 1, 1, 8, "threads"),
                                     integer_parameter("device", 0, 0, 15, "device")};

std::vector<DeviceInfo> devices_of(const std::vector<std::int32_t>& indices) {
  std::vector<DeviceInfo> devices;
  for (const std::int32_t index : indices) devices.push_back({.index = index});
  return devices;
}

constexpr bool kChosen = true;

// The device of each of five ranks on this host, if all have the value `device`.
std::vector<std::string> used(const std::vector<DeviceInfo>& devices, const std::string& device,
                              bool is_chosen) {
  std::vector<std::string> result(5);
  run_ranks(5, [&](const std::shared_ptr<Communicator>& communicator) {
    const Ranks ranks(communicator);
    ParameterSet parameters(kSchema, std::ssize(kSchema));
    parameters.set("device", device);
    use_own_device(devices, is_chosen, parameters, ranks);
    result[static_cast<std::size_t>(ranks.rank())] = parameters.text("device");
  });
  return result;
}

using Devices = std::vector<std::string>;

TEST(RankDevice, RanksOfAHostAreAssignedToItsDevicesRoundRobin) {
  EXPECT_EQ(used(devices_of({0, 1}), "0", !kChosen), (Devices{"0", "1", "0", "1", "0"}));
  EXPECT_EQ(used(devices_of({2, 5, 7, 8, 9, 11}), "0", !kChosen),
            (Devices{"2", "5", "7", "8", "9"}));
}

TEST(RankDevice, AChosenDeviceServesAllRanks) {
  EXPECT_EQ(used(devices_of({0, 1}), "3", kChosen), Devices(5, "3"));
  EXPECT_EQ(used(devices_of({0, 1}), "0", kChosen), Devices(5, "0"));
  EXPECT_EQ(used({}, "0", !kChosen), Devices(5, "0"));
}

TEST(RankDevice, AnExperimentChoosesADeviceByAnotherValueThanTheDefault) {
  ParameterSet parameters(kSchema, 2);
  EXPECT_FALSE(has_chosen_device(parameters));
  parameters.set("device", "1");
  EXPECT_TRUE(has_chosen_device(parameters));
  parameters.set("device", "0");
  EXPECT_FALSE(has_chosen_device(parameters));
  EXPECT_FALSE(has_chosen_device(ParameterSet(kSchema, 1)));
}

TEST(RankDevice, OtherParametersRemain) {
  ParameterSet parameters(kSchema, 1);
  use_own_device(devices_of({4}), !kChosen, parameters, Ranks());
  EXPECT_EQ(parameters.describe_changes(), "");
  ParameterSet both(kSchema, 2);
  both.set("threads", "2");
  use_own_device(devices_of({4}), !kChosen, both, Ranks());
  EXPECT_EQ(both.describe_changes(), "threads=2 device=4");
}

}  // namespace
}  // namespace lloyd::apps
