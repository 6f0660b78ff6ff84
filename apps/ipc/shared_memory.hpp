// Memory shared between processes.
#pragma once

#include <cstdint>
#include <memory>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {

/// Copies the bytes at `data` into sealed, read-only memory. It has no name in any file system, and
/// is freed when the last descriptor and mapping of it are closed. Throws Error.
Descriptor make_shared_memory(const void* data, std::int64_t bytes);

/// Size in bytes of memory made by make_shared_memory(). Throws Error if the descriptor is invalid
/// or lacks the seals: its sender could truncate the memory while it is read.
std::int64_t shared_memory_bytes(int descriptor);

/// Maps the first `bytes` bytes (>= 1) of a file read-only, with all pages populated, so that later
/// accesses do not fault. Throws Error.
std::shared_ptr<const void> map_shared(int descriptor, std::int64_t bytes);

/// True if map_shared() has mapped this address. Async-signal-safe.
bool is_shared_memory(const void* address) noexcept;

}  // namespace lloyd::apps
