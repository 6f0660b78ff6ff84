// Fnv1a: a hash of bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lloyd::apps {

/// Not cryptographic. Equal on every machine for equal bytes, however they are split into calls.
/// Source: G. Fowler, L. C. Noll and K.-P. Vo, FNV-1a, 1991.
class Fnv1a {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3u;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace lloyd::apps
