// Memory that several processes map.
#pragma once

#include <cstdint>
#include <memory>

#include "descriptor.hpp"

namespace lloyd::apps {

/// Anonymous memory that can be written no more, with the bytes at `data` in it. It has no name in
/// any file system, and ends with the last process that holds it. Throws Error.
Descriptor make_shared_memory(const void* data, std::int64_t bytes);

/// The first `bytes` bytes of a file, read-only, and present in the page tables of this process, so
/// that no later access has to wait for them. Throws Error. `bytes` >= 1.
std::shared_ptr<const void> map_shared(int descriptor, std::int64_t bytes);

}  // namespace lloyd::apps
