// The GPUs, as NVIDIA's management library (NVML) lists them.
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
  bool driver_found = false;  ///< its library could be loaded
  std::string driver;         ///< version; empty where not known
  std::string cuda;           ///< newest CUDA version that the driver runs, "13.0"
  std::vector<Gpu> list;      ///< all of the machine, whatever CUDA_VISIBLE_DEVICES says
  std::string problem;        ///< one sentence: why something above is missing; may be empty
};

/// Loads NVML, which a driver brings along, asks it, and closes it again.
Gpus read_gpus();

/// The driver's version, and the newest CUDA version that it runs; unchanged where the call fails.
NvmlReturn read_driver(const Nvml& nvml, std::string& version);
NvmlReturn read_cuda(const Nvml& nvml, std::string& version);

}  // namespace lloyd::machine
