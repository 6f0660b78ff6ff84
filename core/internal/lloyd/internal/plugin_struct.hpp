// Copies structs that begin with their size out of plugins of this or an earlier minor version.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace lloyd {

/// Copies a struct of `given_size` bytes that a plugin made. Fields beyond its end keep their
/// defaults; bytes beyond this program's struct are ignored.
template <class Struct>
Struct host_copy(const void* given, std::uint64_t given_size) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  Struct copy;
  std::memcpy(static_cast<void*>(&copy), given,
              static_cast<std::size_t>(std::min<std::uint64_t>(given_size, sizeof(copy))));
  copy.struct_size = sizeof(copy);
  return copy;
}

/// Copies the struct that `given` points to, using the size in it.
template <class Struct>
Struct host_copy(const Struct* given) {
  return host_copy<Struct>(given, given->struct_size);
}

}  // namespace lloyd
