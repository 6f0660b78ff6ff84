// GPU sensors, with stand-ins for NVIDIA's library.
#include <stdlib.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "machine/gpu/gpu_sensors.hpp"

namespace lloyd::machine {
namespace {

using Texts = std::vector<std::string>;
constexpr const char* kNew = LLOYD_FAKE_NVML "new.so";
constexpr const char* kOld = LLOYD_FAKE_NVML "old.so";
constexpr const char* kMute = LLOYD_FAKE_NVML "mute.so";
constexpr const char* kName = "NVIDIA H200";

/// Sets CUDA_VISIBLE_DEVICES for its lifetime, or unsets it (null).
class Visible {
 public:
  explicit Visible(const char* devices) {
    const char* before = ::getenv(kVariable);
    if (before != nullptr) before_ = before;
    if (devices == nullptr) {
      ::unsetenv(kVariable);
    } else {
      ::setenv(kVariable, devices, 1);
    }
  }
  ~Visible() {
    if (before_) {
      ::setenv(kVariable, before_->c_str(), 1);
    } else {
      ::unsetenv(kVariable);
    }
  }
  Visible(const Visible&) = delete;
  Visible& operator=(const Visible&) = delete;

 private:
  static constexpr const char* kVariable = "CUDA_VISIBLE_DEVICES";
  std::optional<std::string> before_;
};

int temperature(const GpuSensors& sensors, NvmlDevice device) {
  return static_cast<int>(sensors.read(device).temperature_c.value_or(-1));
}

TEST(GpuSensors, ReadWhatTheDriverSays) {
  const Visible all(nullptr);
  const GpuSensors sensors(kNew);
  EXPECT_EQ(sensors.driver(), "570.124.06");
  EXPECT_EQ(sensors.cuda(), "12.8");
  const NvmlDevice device = sensors.find(0, kName);
  ASSERT_NE(device, nullptr);
  const GpuState state = sensors.read(device);
  EXPECT_EQ(state.sm_mhz, 1980);
  EXPECT_EQ(state.memory_mhz, 3201);
  EXPECT_EQ(state.temperature_c, 42);
  EXPECT_EQ(state.power_w, 123.456);
  EXPECT_EQ(state.throttle, Texts{"sw_power_cap"});
  EXPECT_EQ(sensors.read(device).sm_mhz, 1970) << "asked again each time";
}

TEST(GpuSensors, OlderDriversAreAskedByTheOldName) {
  const Visible all(nullptr);
  const GpuSensors sensors(kOld);
  EXPECT_EQ(sensors.read(sensors.find(1, kName)).throttle, Texts{"sw_power_cap"});
}

TEST(GpuSensors, WhatADeviceDoesNotSupportIsNotKnown) {
  const Visible all(nullptr);
  const GpuSensors sensors(kNew);
  const GpuState state = sensors.read(sensors.find(2, "NVIDIA T4"));
  EXPECT_FALSE(state.power_w.has_value());
  EXPECT_EQ(state.temperature_c, 71);
  EXPECT_EQ(state.throttle, (Texts{"hw_slowdown", "sw_thermal_slowdown"}));
}

TEST(GpuSensors, TheMaximumClockIsUnknownIfTheDriverLacksIt) {
  const Visible all(nullptr);
  const GpuSensors sensors(kNew);
  EXPECT_EQ(sensors.max_sm_mhz(sensors.find(0, kName)), 2000);
  EXPECT_FALSE(sensors.max_sm_mhz(sensors.find(2, "NVIDIA T4")));
  const GpuSensors old(kOld);
  EXPECT_FALSE(old.max_sm_mhz(old.find(0, kName)));
}

TEST(GpuSensors, EnergyIsInJoules) {
  const Visible all(nullptr);
  const GpuSensors sensors(kNew);
  const NvmlDevice device = sensors.find(0, kName);
  const double before = sensors.energy_j(device).value();
  EXPECT_GE(before, 7000);
  EXPECT_EQ(sensors.energy_j(device), before + 2.5);
  EXPECT_FALSE(sensors.energy_j(sensors.find(2, "NVIDIA T4")));
}

TEST(GpuSensors, WithoutADriverNothingIsKnown) {
  for (const char* library : {kMute, "/none/libnvidia-ml.so.1"}) {
    const GpuSensors sensors(library);
    EXPECT_EQ(sensors.driver(), "");
    EXPECT_EQ(sensors.find(0, kName), nullptr);
  }
}

TEST(GpuSensors, FindTheDeviceThatCudaMeans) {
  const Visible all(nullptr);
  const GpuSensors sensors(kNew);
  EXPECT_EQ(temperature(sensors, sensors.find(2, "NVIDIA T4")), 71);
  {
    const Visible visible("2,0");
    EXPECT_EQ(temperature(sensors, sensors.find(0, "NVIDIA T4")), 71);
    EXPECT_EQ(temperature(sensors, sensors.find(1, kName)), 42);
  }
  {
    const Visible visible("GPU-22222222-2222-2222-2222-222222222222");
    EXPECT_EQ(temperature(sensors, sensors.find(0, "NVIDIA T4")), 71);
    EXPECT_EQ(sensors.find(0, kName), nullptr) << "there are two of this name";
    EXPECT_EQ(sensors.find(1, kName), nullptr) << "not visible";
  }
  // CUDA numbers the fastest device first, so index 0 may be another device; a unique name decides.
  EXPECT_EQ(temperature(sensors, sensors.find(0, "NVIDIA T4")), 71);
  EXPECT_EQ(sensors.find(0, "NVIDIA A100"), nullptr);
  EXPECT_EQ(sensors.find(0, "NVIDIA H200 MIG 1g.18gb"), sensors.find(0, kName));
  EXPECT_EQ(sensors.find(-1, kName), nullptr);
}

TEST(GpuSensors, UnknownReasonsAreShownAsBits) {
  EXPECT_EQ(throttle_reasons(0), Texts{});
  EXPECT_EQ(throttle_reasons(0x1), Texts{"idle"});
  EXPECT_EQ(throttle_reasons(0x40000000000080), (Texts{"hw_power_brake", "0x40000000000000"}));
}

TEST(GpuSensors, RestAndSettingsAreNoThrottling) {
  for (const char* reason : {"idle", "application_clocks", "sync_boost", "display_clocks"}) {
    EXPECT_FALSE(is_throttling(reason)) << reason;
  }
  for (const char* reason : {"sw_power_cap", "hw_slowdown", "sw_thermal_slowdown",
                             "hw_thermal_slowdown", "hw_power_brake", "0x40000000000000"}) {
    EXPECT_TRUE(is_throttling(reason)) << reason;
  }
}

}  // namespace
}  // namespace lloyd::machine
