// Seeding: chooses the initial centroids, which are the same for every backend.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Seeding methods.
enum class SeedingMethod {
  kmeans_plus_plus,  ///< greedy, 2 + floor(ln k) candidates per step; Arthur & Vassilvitskii, 2007
  kmeans_parallel,   ///< k-means||; Bahmani et al., 2012
  random,            ///< k distinct samples
  first,             ///< the first k samples
  file,              ///< given centroids, Seeding::centroids, from a file or from the program
};

/// The method's name in YAML and on the command line: "k-means++", "k-means||", "random", "first",
/// "file".
std::string_view to_string(SeedingMethod method);
/// The method with this name. Throws InputError for an unknown name.
SeedingMethod parse_seeding_method(std::string_view name);
/// True for the methods that compute distances. Only these use seeding kernels.
bool computes_distances(SeedingMethod method);
/// True for the methods that choose at random. With the others, `first` and `file`, all restarts
/// begin with the same centroids.
bool uses_seed(SeedingMethod method);
/// All seeding methods.
std::vector<SeedingMethod> seeding_methods();

inline constexpr double kMaxOversampling = 1000;  ///< maximum of Seeding::oversampling
inline constexpr std::int64_t kMaxRounds = 1000;  ///< maximum of Seeding::rounds

/// A seeding method and its options.
struct Seeding {
  SeedingMethod method = SeedingMethod::kmeans_plus_plus;  ///< the method
  std::uint64_t seed = 0;  ///< seed of the random numbers; see uses_seed()
  /// For k-means||: the expected number of samples that one round collects, as a multiple of k; in
  /// (0, kMaxOversampling].
  double oversampling = 1;
  std::int64_t rounds = 5;  ///< for k-means||: number of rounds, 1 to kMaxRounds
  /// For SeedingMethod::file: the centroids, k x d values, row-major; they need not come from a
  /// file.
  std::vector<double> centroids{};
  /// The origin of `centroids`, for messages only. The library reads no file of this name.
  std::string file{};
};

/// Throws InputError if the method does not exist, or one of its options is out of range.
void check_seeding(const Seeding& seeding);
/// Estimated peak host memory of seeding in bytes; float64, so that it cannot overflow.
double seeding_bytes(const Seeding& seeding, const ProblemShape& shape);

class BackendSession;

/// Resources for seeding. The chosen samples do not depend on them.
struct SeedingResources {
  /// Polled for cancellation. While the kernels of a session run it may be called from any thread,
  /// otherwise it is called on the calling thread. What it throws ends the seeding; with several
  /// ranks, all throw an error with its message.
  StopFunction stop{};
  int threads = 0;  ///< threads of the core; 0: usable_processors()
  /// A session on the same data set, whose ResidentSeeding or SeedingKernels are used if it offers
  /// them. May be null.
  BackendSession* session = nullptr;
  /// Receives the number of chosen centroids and k. During the rounds of k-means||, the number is
  /// k times the fraction of rounds that are done.
  ProgressFunction progress{};
};

/// Chooses the k samples that become the initial centroids and returns their rows. Rows repeat only
/// if the data has fewer than k distinct samples. The result depends on the data, the options and
/// `restart` (0, 1, ..., independent choices), but not on the machine. Not for SeedingMethod::file.
/// For a part of a data set, see Dataset::part(), this and seed_centroids() are collective, and n
/// and the rows are those of the whole. Throws InputError if k is not in [1, n] or an option of the
/// method is out of range or differs between ranks, Cancelled, and BackendError for errors of the
/// session's kernels.
std::vector<std::int64_t> seed_indices(const Dataset& dataset, std::int64_t clusters,
                                       const Seeding& seeding, std::int64_t restart = 0,
                                       const SeedingResources& resources = {});

/// The initial centroids, k x d, row-major, float64. Throws what seed_indices() throws, and
/// InputError if the given centroids have the wrong shape or non-finite values.
std::vector<double> seed_centroids(const Dataset& dataset, std::int64_t clusters,
                                   const Seeding& seeding, std::int64_t restart = 0,
                                   const SeedingResources& resources = {});

}  // namespace lloyd
