// The GPUs listed by NVIDIA's management library (NVML).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/gpu/nvml.hpp"

namespace lloyd::machine {

struct Gpu {
  std::string name;
  std::int64_t memory_bytes = 0;
  std::string compute_capability;  ///< "9.0"
};

struct Gpus {
  bool driver_found = false;  ///< NVML could be loaded
  std::string driver;         ///< version; empty if unknown
  std::string cuda;       ///< newest CUDA version supported by the driver, "13.0"; empty if unknown
  std::vector<Gpu> list;  ///< all GPUs of the machine, regardless of CUDA_VISIBLE_DEVICES
  std::string problem;    ///< sentence on why something above is missing; empty if nothing is
};

/// Loads NVML, which is part of the driver, queries it, and unloads it.
Gpus read_gpus();

/// Query the driver's version and the newest CUDA version that it supports; on failure the text is
/// unchanged.
NvmlReturn read_driver(const Nvml& nvml, std::string& version);
NvmlReturn read_cuda(const Nvml& nvml, std::string& version);

}  // namespace lloyd::machine
