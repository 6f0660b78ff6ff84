// Seeding: the initial centroids, the same for every backend.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// How the initial centroids are chosen.
enum class SeedingMethod {
  kmeans_plus_plus,  ///< greedy, 2 + floor(ln k) candidates a step; Arthur & Vassilvitskii, 2007
  kmeans_parallel,   ///< k-means||; Bahmani et al., 2012
  random,            ///< k distinct samples
  first,             ///< the first k samples as they are
  file,              ///< given centroids
};

/// The name in YAML and on the command line: "k-means++", "k-means||", "random", "first",
/// "file".
std::string_view to_string(SeedingMethod method);
/// Throws InputError for an unknown name.
SeedingMethod parse_seeding_method(std::string_view name);
/// All methods.
std::vector<SeedingMethod> seeding_methods();

inline constexpr double kMaxOversampling = 1000;  ///< of Seeding::oversampling
inline constexpr std::int64_t kMaxRounds = 1000;  ///< of Seeding::rounds

/// A method with its options.
struct Seeding {
  SeedingMethod method = SeedingMethod::kmeans_plus_plus;  ///< one of them
  std::uint64_t seed = 0;  ///< of the random numbers; `first` and `file` draw none
  /// For SeedingMethod::kmeans_parallel: a round is expected to collect oversampling x k samples at
  /// the most; above 0, at most kMaxOversampling.
  double oversampling = 1;
  std::int64_t rounds = 5;  ///< likewise; 1 to kMaxRounds
  /// For SeedingMethod::file: k x d values, row-major, and where they came from, for messages.
  std::vector<double> centroids{};
  std::string file{};  ///< see centroids
};

/// Throws InputError when an option of the method is out of range.
void check_seeding(const Seeding& seeding);
/// Host memory that the choice of samples holds at its peak, about; in float64, where nothing
/// overflows.
double seeding_bytes(const Seeding& seeding, const ProblemShape& shape);

class OpenSession;

/// What seeding is done with; the samples chosen do not depend on it.
struct SeedingResources {
  /// Where a session's kernels do the work they may ask from any thread; else it is asked on the
  /// calling thread.
  StopFunction stop{};
  int threads = 0;  ///< of the core; 0: one per core that the process may use
  /// A session opened on the same data set: its SeedingKernels are used where it offers them. May
  /// be null.
  OpenSession* session = nullptr;
};

/// Indices of the samples that become the initial centroids (k of them; duplicates only where the
/// data has fewer than k distinct samples). The same on every machine for the same data and seed.
/// `restart` 0, 1, ... gives independent choices. Not for SeedingMethod::file. Throws InputError
/// when k is not in [1, n] or an option of the method is out of range, Cancelled, and BackendError
/// for what the session's kernels report.
std::vector<std::int64_t> seed_indices(const Dataset& dataset, std::int64_t clusters,
                                       const Seeding& seeding, std::int64_t restart = 0,
                                       const SeedingResources& resources = {});

/// Initial centroids, k x d, row-major, float64. Throws what seed_indices() does,
/// and InputError when given centroids have another shape or values that are not finite.
std::vector<double> seed_centroids(const Dataset& dataset, std::int64_t clusters,
                                   const Seeding& seeding, std::int64_t restart = 0,
                                   const SeedingResources& resources = {});

}  // namespace lloyd
