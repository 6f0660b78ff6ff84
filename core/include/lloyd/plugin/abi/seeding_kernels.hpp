// SeedingKernels: an optional interface by which a backend accelerates seeding. The host obtains it
// by name with Session::query(). The seeding algorithms stay in the host, so that they choose the
// same centroids for all backends.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd {

/// Name of the interface. Later minor versions may append fields to the requests, which an earlier
/// plugin ignores; any other change gets a new name.
inline constexpr char kSeedingKernels[] = "lloyd.seeding/1";

/// Converts squared distances to integer weights, whose sum does not depend on the order. The
/// factors are powers of two. There are two because a single one can exceed the range of float64 if
/// distances are subnormal.
struct WeightScale {
  double first = 1;   ///< the first factor
  double second = 1;  ///< the second factor

  /// The weight of a sample: floor(squared_distance * first * second), evaluated in this order. The
  /// host chooses the factors so that the weights of all samples sum to less than 2^63.
  std::int64_t weight(double squared_distance) const {
    return static_cast<std::int64_t>(squared_distance * first * second);
  }
};
static_assert(sizeof(WeightScale) == 16);

/// Request: updates the nearest-centroid distances of all n samples of a session with m more
/// centroids. All arrays are in host memory.
struct NearestRequest {
  std::uint64_t struct_size = sizeof(NearestRequest);  ///< sizeof on the allocating side
  /// m x d, row-major, finite; all squared distances to samples are below 1e290.
  const double* centroids = nullptr;
  std::int64_t count = 0;        ///< m >= 1
  std::int64_t first_index = 0;  ///< index of the first new centroid; first_index + m < 2^31
  /// n, in and out: each entry becomes the minimum of its value (infinity: no centroid yet) and the
  /// squared distances to the m centroids, see distance.hpp.
  double* squared_distances = nullptr;
  /// n, in and out, or null: set to the index of the new centroid if that made the squared distance
  /// smaller; ties go to the lowest index.
  std::int32_t* nearest = nullptr;
};
static_assert(sizeof(NearestRequest) == 48);

/// Request: computes the gains of m candidates for the next centroid. All arrays are in host
/// memory.
struct GainsRequest {
  std::uint64_t struct_size = sizeof(GainsRequest);  ///< sizeof on the allocating side
  /// m x d, row-major, finite; all squared distances to samples are below 1e290.
  const double* candidates = nullptr;
  std::int64_t count = 0;                     ///< m >= 1
  const double* squared_distances = nullptr;  ///< n, finite, >= 0
  WeightScale scale;                          ///< the same for all samples
  /// m, out: the reduction of the potential by each candidate. That is the sum over all samples i
  /// with D_i < squared_distances[i] of weight(squared_distances[i]) - weight(D_i), where D_i is
  /// the squared distance of sample i to the candidate, see distance.hpp.
  std::int64_t* gains = nullptr;
};
static_assert(sizeof(GainsRequest) == 56);

/// Part of a session: shares its lifetime, and likewise serves one thread at a time. Methods
/// restore the floating-point modes. They return `cancelled` soon after `observer` (may be null)
/// returned true from stop_requested(). After any status but ok the outputs are undefined.
class SeedingKernels {
 public:
  /// Updates the nearest-centroid distances of all samples with further centroids.
  virtual Status nearest(const NearestRequest& request, Observer* observer) noexcept = 0;
  /// Computes the gain of each candidate.
  virtual Status gains(const GainsRequest& request, Observer* observer) noexcept = 0;

 protected:
  ~SeedingKernels() = default;
};

}  // namespace lloyd
