// Memory that several processes map.
#pragma once

#include <cstdint>
#include <memory>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {

/// Anonymous memory that can be written no more, with the bytes at `data` in it. It has no name in
/// any file system, and ends with the last process that holds it. Throws Error.
Descriptor make_shared_memory(const void* data, std::int64_t bytes);

/// The size of what make_shared_memory() has made, in bytes. Throws Error where the descriptor is
/// of something else, or of nothing: whoever sent it could take it away while it is read.
std::int64_t shared_memory_bytes(int descriptor);

/// The first `bytes` bytes of a file, read-only, and present in the page tables of this process, so
/// that no later access has to wait for them. Throws Error. `bytes` >= 1.
std::shared_ptr<const void> map_shared(int descriptor, std::int64_t bytes);

}  // namespace lloyd::apps
