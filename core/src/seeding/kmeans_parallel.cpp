#include "seeding/kmeans_parallel.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "seeding/kmeans_plus_plus.hpp"
#include "seeding/matrix_samples.hpp"
#include "seeding/sample_weights.hpp"

namespace lloyd {
namespace {

__extension__ typedef unsigned __int128 UInt128;

class Collection {
 public:
  Collection(SeedingSamples& samples, const ScalableSeeding& seeding, const RangeWorkers& workers)
      : samples_(samples),
        seeding_(seeding),
        workers_(workers),
        weights_(samples, workers),
        squared_distances_(static_cast<std::size_t>(samples.samples()),
                           std::numeric_limits<double>::infinity()),
        nearest_(squared_distances_.size(), 0) {
    add({static_cast<std::int64_t>(seeding.starts.below(weights_.count(), draws_++))});
  }

  // True if every sample equals a collected one.
  bool complete() const { return largest_ == 0; }

  void add_round() {
    weights_.weigh(squared_distances_.data(), largest_);
    std::vector<std::int64_t> found = draw();
    if (found.empty()) {
      const std::uint64_t position = seeding_.starts.below(weights_.total(), draws_++);
      found = weights_.find({&position, 1});
    }
    add(found);
  }

  // Drops collected samples that equal an earlier one, so that no sample is nearest to them. Leaves
  // the indices of the others and, for each, the number of samples that are nearest to it.
  void reduce(std::vector<std::int64_t>& indices, std::vector<std::int64_t>& counts) const {
    std::vector<std::int64_t> all(collected_.size());
    for (const std::int32_t c : nearest_) ++all[static_cast<std::size_t>(c)];
    samples_.ranks().sum(all);
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (all[c] == 0) continue;
      indices.push_back(collected_[c]);
      counts.push_back(all[c]);
    }
  }

 private:
  static constexpr std::int64_t kBlock = 4096;

  // Collects each sample independently with probability min(1, per_round x weight / total).
  std::vector<std::int64_t> draw() {
    const std::int64_t n = samples_.samples();
    const std::int64_t first = samples_.first_row();
    const std::uint64_t offset = round_++ * weights_.count() + static_cast<std::uint64_t>(first);
    const auto factor = static_cast<std::uint64_t>(seeding_.per_round);
    std::vector<std::vector<std::int64_t>> found(
        static_cast<std::size_t>((n + kBlock - 1) / kBlock));
    const auto draw_range = [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t>& block = found[static_cast<std::size_t>(begin / kBlock)];
      for (std::int64_t i = begin; i < end; ++i) {
        const std::uint64_t weight = weights_.weight(i);
        if (weight > 0 && drawn(weight, factor, offset + static_cast<std::uint64_t>(i))) {
          block.push_back(first + i);
        }
      }
    };
    samples_.ranks().together([&] { workers_.for_each_range(n, kBlock, draw_range); });
    std::vector<std::int64_t> all;
    for (const auto& block : found) all.insert(all.end(), block.begin(), block.end());
    return samples_.ranks().concatenate(std::span<const std::int64_t>(all));
  }

  // True if random / 2^64 < factor x weight / total. The total is below 2^63, so no product
  // overflows 128 bits.
  bool drawn(std::uint64_t weight, std::uint64_t factor, std::uint64_t draw) const {
    const UInt128 share = UInt128{weight} * factor;
    if (share >= weights_.total()) return true;
    return UInt128{seeding_.rounds_stream.bits(draw)} * weights_.total() < share << 64;
  }

  void add(const std::vector<std::int64_t>& indices) {
    constexpr std::size_t kMaxCollected = std::numeric_limits<std::int32_t>::max();
    const std::size_t before = collected_.size();
    if (indices.size() > kMaxCollected - before) {
      throw InputError(
          fmt::format("k-means|| would collect more than {} samples; lower the oversampling or the "
                      "number of rounds",
                      kMaxCollected));
    }
    largest_ = samples_.fold_nearest(samples_.rows(indices), static_cast<std::int64_t>(before),
                                     squared_distances_.data(), nearest_.data());
    collected_.insert(collected_.end(), indices.begin(), indices.end());
    // A collected sample must be at distance 0 from itself; else it could be drawn again and again,
    // and the rounds would not end.
    samples_.ranks().together([&] { check_collected(indices); });
  }

  void check_collected(const std::vector<std::int64_t>& indices) const {
    for (const std::int64_t index : indices) {
      const std::int64_t i = index - samples_.first_row();
      if (i < 0 || i >= samples_.samples()) continue;  // of another rank
      const double own = squared_distances_[static_cast<std::size_t>(i)];
      if (own == 0) continue;
      throw BackendError(
          StatusCode::internal,
          fmt::format("seeding: sample {} was found at a squared distance of {} from itself", index,
                      own));
    }
  }

  SeedingSamples& samples_;
  const ScalableSeeding& seeding_;
  const RangeWorkers& workers_;
  SampleWeights weights_;
  std::vector<double> squared_distances_;
  std::vector<std::int32_t> nearest_;  // index of the nearest collected sample
  std::vector<std::int64_t> collected_;
  double largest_ = 0;  // largest of squared_distances_
  std::uint64_t draws_ = 0;
  std::uint64_t round_ = 0;
};

}  // namespace

std::vector<std::int64_t> kmeans_parallel(SeedingSamples& samples, std::int64_t clusters,
                                          const ScalableSeeding& seeding,
                                          const RangeWorkers& workers,
                                          const ProgressFunction& progress) {
  const FloatEnvironment environment;
  std::vector<std::int64_t> indices, counts;
  {
    Collection collection(samples, seeding, workers);
    for (std::int64_t round = 0; round < seeding.rounds && !collection.complete(); ++round) {
      collection.add_round();
      if (progress) progress(clusters * (round + 1) / (seeding.rounds + 1), clusters);
    }
    collection.reduce(indices, counts);
    while (static_cast<std::int64_t>(indices.size()) < clusters && !collection.complete()) {
      collection.add_round();
      indices.clear();
      counts.clear();
      collection.reduce(indices, counts);
    }
  }
  const auto distinct = static_cast<std::int64_t>(indices.size());
  const Matrix candidates =
      Matrix::from_values(samples.rows(indices), distinct, samples.features());
  MatrixSamples weighted(candidates, workers, counts.data());
  std::vector<std::int64_t> chosen;
  // Each rank reduces the same candidates.
  samples.ranks().together([&] {
    HostPotential potential(weighted, workers);
    chosen = kmeans_plus_plus(potential, std::min(clusters, distinct), seeding.reduction);
  });
  for (std::int64_t& index : chosen) index = indices[static_cast<std::size_t>(index)];
  add_lowest_unchosen(chosen, clusters);
  if (progress) progress(clusters, clusters);
  return chosen;
}

}  // namespace lloyd
