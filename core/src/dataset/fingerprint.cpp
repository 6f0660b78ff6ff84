#include "dataset/fingerprint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lloyd {
namespace {

std::uint64_t mix(std::uint64_t value) {
  // Finalizer of SplitMix64. Source: G. L. Steele et al., "Fast splittable pseudorandom number
  // generators", 2014.
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace

Fingerprint::Fingerprint(std::int64_t samples, std::int64_t features, DType dtype)
    : row_bytes_(static_cast<std::size_t>(features * size_of(dtype))),
      value_bytes_(size_of(dtype)),
      hash_(mix(static_cast<std::uint64_t>(samples))) {
  hash_ = mix(hash_ ^ static_cast<std::uint64_t>(features));
  hash_ = mix(hash_ ^ static_cast<std::uint64_t>(dtype));
}

void Fingerprint::add(const void* data, std::int64_t stride, std::int64_t rows) {
  const auto step = static_cast<std::size_t>(stride * value_bytes_);
  const char* row = static_cast<const char*>(data);
  for (std::int64_t i = 0; i < rows; ++i, row += step) {
    for (std::size_t at = 0; at < row_bytes_; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, row + at, std::min<std::size_t>(8, row_bytes_ - at));
      hash_ = (std::rotl(hash_, 5) ^ word) * 0x9e3779b97f4a7c15u;
    }
    hash_ ^= hash_ >> 29;
  }
}

std::uint64_t Fingerprint::value() const {
  return mix(hash_);
}

}  // namespace lloyd
