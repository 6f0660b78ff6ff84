// What the parts of the emulation share besides emulation.hpp.
#pragma once

#include "emulation.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#endif

#include <cstddef>
#include <functional>

namespace emulation {

/// Maximum threads of a block.
inline constexpr std::size_t kMaxThreads = 1024;
/// Maximum dynamic shared memory of a block.
inline constexpr std::size_t kSharedBytes = 227 << 10;
/// Guard bytes around allocations and behind dynamic shared memory, and their value.
inline constexpr std::size_t kRedZone = 256;
inline constexpr unsigned char kRedByte = 0xa5;
/// The bytes of uninitialized memory: NaN in every format.
inline constexpr unsigned char kPoison = 0xff;

/// The integer value of an environment variable, or `otherwise` if it is not set.
long setting(const char* name, long otherwise);

/// Runs all blocks of a grid; `thread` is the kernel with its arguments.
void run_grid(const Launch& launch, const std::function<void()>& thread);

/// Fails if a guard byte of any allocation has changed.
void check_all_red_zones();

}  // namespace emulation
