#include <lloyd/internal/sampled_rows.hpp>

#include <cstddef>

#include <lloyd/random.hpp>

namespace lloyd {

std::vector<std::int64_t> sampled_rows(std::int64_t samples, std::int64_t wanted) {
  const RandomStream random(0, 0);
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(wanted));
  for (std::int64_t part = 0; part < wanted; ++part) {
    // samples * part / wanted, without overflow.
    const auto bound = [&](std::int64_t at) {
      return samples / wanted * at + samples % wanted * at / wanted;
    };
    const std::int64_t first = bound(part);
    const auto size = static_cast<std::uint64_t>(bound(part + 1) - first);
    rows.push_back(first +
                   static_cast<std::int64_t>(random.below(size, static_cast<std::uint64_t>(part))));
  }
  return rows;
}

}  // namespace lloyd
