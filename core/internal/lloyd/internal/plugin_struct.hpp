// Structs that begin with their size, as plugins of this or an earlier minor version made them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace lloyd {

/// Copies what this program knows of a struct of `given_size` bytes that a plugin made. Fields
/// behind the plugin's end keep their defaults, and what is behind this program's end is passed
/// over.
template <class Struct>
Struct host_copy(const void* given, std::uint64_t given_size) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  Struct copy;
  std::memcpy(static_cast<void*>(&copy), given,
              static_cast<std::size_t>(std::min<std::uint64_t>(given_size, sizeof(copy))));
  copy.struct_size = sizeof(copy);
  return copy;
}

/// The struct that `given` points to, by its own size.
template <class Struct>
Struct host_copy(const Struct* given) {
  return host_copy<Struct>(given, given->struct_size);
}

}  // namespace lloyd
