#include "seeding/distributed_samples.hpp"

#include <algorithm>
#include <bit>

namespace lloyd {

std::vector<double> shared_rows(const Dataset& dataset, const Ranks& ranks,
                                std::span<const std::int64_t> indices) {
  if (ranks.alone()) return dataset.samples_of(indices);
  // Bit patterns of the values; those of other ranks' rows are 0 until they are summed.
  std::vector<std::int64_t> bits(indices.size() * static_cast<std::size_t>(dataset.features()));
  ranks.together([&] {
    auto next = bits.begin();
    for (const std::int64_t index : indices) {
      const std::int64_t row = index - dataset.first_row();
      if (row >= 0 && row < dataset.samples()) {
        const std::vector<double> sample = dataset.sample(row);
        std::transform(sample.begin(), sample.end(), next,
                       [](double value) { return std::bit_cast<std::int64_t>(value); });
      }
      next += dataset.features();
    }
  });
  ranks.sum(bits);
  std::vector<double> values(bits.size());
  std::transform(bits.begin(), bits.end(), values.begin(),
                 [](std::int64_t value) { return std::bit_cast<double>(value); });
  return values;
}

void DistributedSamples::copy_rows(std::span<const std::int64_t> indices, double* values) const {
  std::ranges::copy(shared_rows(dataset_, ranks_, indices), values);
}

double DistributedSamples::fold_nearest(std::span<const double> centroids, std::int64_t first_index,
                                        double* squared_distances, std::int32_t* nearest) {
  double largest = 0;
  ranks_.together([&] {
    workers_.check_stop();
    if (local_ == nullptr) return;
    largest = local_->fold_nearest(centroids, first_index, squared_distances, nearest);
  });
  ranks_.max(std::span(&largest, 1));
  return largest;
}

void DistributedSamples::rate(std::span<const double> candidates, const double* squared_distances,
                              const WeightScale& scale, std::span<std::int64_t> gains) {
  std::fill(gains.begin(), gains.end(), 0);
  ranks_.together([&] {
    workers_.check_stop();
    if (local_ != nullptr) local_->rate(candidates, squared_distances, scale, gains);
  });
  ranks_.sum(gains);
}

}  // namespace lloyd
