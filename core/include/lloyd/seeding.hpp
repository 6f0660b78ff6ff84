// Seeding: the initial centroids, the same for every backend.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd {

enum class SeedingMethod {
  kmeans_plus_plus,  ///< greedy, 2 + floor(ln k) candidates a step; Arthur & Vassilvitskii, 2007
  random,            ///< k distinct samples
  first,             ///< the first k samples as they are
  file,              ///< given centroids
};

/// The name in YAML and on the command line: "k-means++", "random", "first", "file".
std::string_view to_string(SeedingMethod method);
/// Throws InputError for an unknown name.
SeedingMethod parse_seeding_method(std::string_view name);

struct Seeding {
  SeedingMethod method = SeedingMethod::kmeans_plus_plus;
  std::uint64_t seed = 0;
  /// For SeedingMethod::file: k x d values, row-major, and where they came from, for messages.
  std::vector<double> centroids{};
  std::string file{};
};

/// Asked now and then; true ends the work with Cancelled. May be empty.
using StopFunction = std::function<bool()>;

/// Indices of the samples that become the initial centroids (k of them; duplicates only where the
/// data has fewer than k distinct samples). The same on every machine for the same data and seed.
/// `restart` 0, 1, ... gives independent choices. Not for SeedingMethod::file.
std::vector<std::int64_t> seed_indices(const Dataset& dataset, std::int64_t clusters,
                                       const Seeding& seeding, std::int64_t restart = 0,
                                       const StopFunction& stop = {});

/// Initial centroids, k x d, row-major, float64. Throws InputError when k is not in [1, n] or given
/// centroids have another shape or values that are not finite.
std::vector<double> seed_centroids(const Dataset& dataset, std::int64_t clusters,
                                   const Seeding& seeding, std::int64_t restart = 0,
                                   const StopFunction& stop = {});

}  // namespace lloyd
