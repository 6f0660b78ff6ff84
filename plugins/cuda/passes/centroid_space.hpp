// CentroidSpace: the memory space of the centroids in kernels. Needs no CUDA header.
#pragma once

#include <cstdint>
#include <string>

namespace lloyd_cuda {

/// Memory space from which the kernels of a pass read the centroids.
enum class CentroidSpace : std::int64_t {
  shared = 0,    ///< each block copies them into its shared memory
  global = 1,    ///< read in place, through the caches
  constant = 2,  ///< constant memory (64 KiB): broadcasts one address per clock to a warp
};

/// Its name in parameters and notes.
constexpr const char* name_of(CentroidSpace space) {
  switch (space) {
    case CentroidSpace::shared:
      return "shared";
    case CentroidSpace::global:
      return "global";
    case CentroidSpace::constant:
      return "constant";
  }
  return "";
}

/// The note on a pass that uses it.
inline std::string note_of(CentroidSpace space) {
  return std::string("centroids in ") + name_of(space) + " memory";
}

/// Bytes of constant memory (64 KiB) that are reserved for centroids.
inline constexpr std::int64_t kConstantBytes = 60 * 1024;

}  // namespace lloyd_cuda
