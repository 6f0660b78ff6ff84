// File descriptors: how many there may be, and what to say where there are no more.
#pragma once

#include <cstdint>
#include <string>

namespace lloyd {

/// How many descriptors this process may have open.
std::int64_t descriptor_limit();

/// What the system says of an error number, with the limit where this process has no descriptor
/// left.
std::string descriptor_error(int error);

}  // namespace lloyd
