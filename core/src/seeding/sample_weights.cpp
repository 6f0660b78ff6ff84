#include "seeding/sample_weights.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include <lloyd/error.hpp>

namespace lloyd {
namespace {

constexpr std::int64_t kWeightBlock = 4096;

}  // namespace

WeightScale weight_scale(double largest, std::uint64_t count) {
  if (!(largest < std::numeric_limits<double>::infinity())) {
    throw BackendError(StatusCode::internal, "seeding: a squared distance is not finite");
  }
  // A distance is below 2^(ilogb + 1) and count is below 2^bit_width, so the sum is below 2^63.
  const int exponent = 62 - std::ilogb(largest) - static_cast<int>(std::bit_width(count));
  // 2^exponent can exceed the range of float64 if the distances are subnormal, so it is split.
  return {std::ldexp(1.0, exponent / 2), std::ldexp(1.0, exponent - exponent / 2)};
}

SampleWeights::SampleWeights(const SeedingSamples& samples, const RangeWorkers& workers)
    : samples_(samples),
      multiplicities_(samples.multiplicities()),
      workers_(workers),
      block_weights_(
          static_cast<std::size_t>((samples.samples() + kWeightBlock - 1) / kWeightBlock)) {
  for (std::int64_t i = 0; multiplicities_ != nullptr && i < samples.samples(); ++i) {
    count_ += times(i);
  }
  std::int64_t all = samples.samples();
  samples.ranks().sum(std::span(&all, 1));
  if (multiplicities_ == nullptr) count_ = static_cast<std::uint64_t>(all);
}

std::int64_t SampleWeights::sample_at(std::uint64_t position) const {
  if (multiplicities_ == nullptr) return static_cast<std::int64_t>(position);
  std::int64_t i = 0;
  while (position >= times(i)) position -= times(i++);
  return i;
}

void SampleWeights::weigh(const double* squared_distances, double largest) {
  scale_ = weight_scale(largest, count_);
  squared_distances_ = squared_distances;
  samples_.ranks().together([&] {
    workers_.check_stop();
    workers_.for_each_range(samples_.samples(), kWeightBlock,
                            [&](std::int64_t begin, std::int64_t end) {
                              std::uint64_t sum = 0;
                              for (std::int64_t i = begin; i < end; ++i) sum += weight(i);
                              block_weights_[static_cast<std::size_t>(begin / kWeightBlock)] = sum;
                            });
  });
  own_ = std::accumulate(block_weights_.begin(), block_weights_.end(), std::uint64_t{0});
  const std::vector<std::uint64_t> sums = samples_.ranks().gather(own_);
  const auto own = sums.begin() + samples_.ranks().rank();
  before_ = std::accumulate(sums.begin(), own, std::uint64_t{0});
  total_ = std::accumulate(own, sums.end(), before_);
}

std::vector<std::int64_t> SampleWeights::find(std::span<const std::uint64_t> positions) const {
  std::vector<std::int64_t> rows;
  for (const std::uint64_t position : positions) {
    const bool is_own = position >= before_ && position - before_ < own_;
    rows.push_back(is_own ? samples_.first_row() + find_own(position - before_) : 0);
  }
  samples_.ranks().sum(rows);  // those that other ranks find are 0
  return rows;
}

std::int64_t SampleWeights::find_own(std::uint64_t position) const {
  std::size_t block = 0;
  while (position >= block_weights_[block]) position -= block_weights_[block++];
  std::int64_t i = static_cast<std::int64_t>(block) * kWeightBlock;
  while (position >= weight(i)) position -= weight(i++);
  return i;
}

}  // namespace lloyd
