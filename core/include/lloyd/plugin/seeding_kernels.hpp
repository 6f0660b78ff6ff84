// SeedingKernels: what a backend may offer for choosing initial centroids. Asked for by its name
// with Session::query(); the algorithms stay with the host, so that all backends choose alike.
#pragma once

#include <cstdint>

#include <lloyd/plugin/backend.hpp>

namespace lloyd {

/// Name of the interface. The requests may grow by fields at their end, which an earlier plugin
/// does not see; any other change of what is below takes another name.
inline constexpr char kSeedingKernels[] = "lloyd.seeding/1";

/// Turns squared distances into integers, which add up to the same in any order. Both factors are
/// powers of two; together they may be beyond float64 where the distances are denormal.
struct WeightScale {
  double first = 1;   ///< multiplied with first
  double second = 1;  ///< multiplied with last

  /// The weight of a sample: squared_distance * first * second, in this order, without its
  /// fraction. The host chooses the factors so that the weights of all samples sum below 2^63.
  std::int64_t weight(double squared_distance) const {
    return static_cast<std::int64_t>(squared_distance * first * second);
  }
};
static_assert(sizeof(WeightScale) == 16);

/// m further centroids for all n samples of a session. All arrays are in host memory.
struct NearestRequest {
  std::uint64_t struct_size = sizeof(NearestRequest);  ///< size in its maker's headers
  /// m x d, row-major, finite; squared distances to all samples are below 1e290.
  const double* centroids = nullptr;
  std::int64_t count = 0;        ///< m >= 1
  std::int64_t first_index = 0;  ///< index of the first of them; first_index + m < 2^31
  /// n, in and out: each becomes the least of what it was (infinite: no centroid yet) and the
  /// squared distances to the m centroids, as distance.hpp defines them.
  double* squared_distances = nullptr;
  /// n, in and out, or null: becomes the index of the nearest centroid where a squared distance
  /// fell; of several equally near ones the lowest.
  std::int32_t* nearest = nullptr;
};
static_assert(sizeof(NearestRequest) == 48);

/// m candidates for the next centroid. All arrays are in host memory.
struct GainsRequest {
  std::uint64_t struct_size = sizeof(GainsRequest);  ///< size in its maker's headers
  /// m x d, row-major, finite; squared distances to all samples are below 1e290.
  const double* candidates = nullptr;
  std::int64_t count = 0;                     ///< m >= 1
  const double* squared_distances = nullptr;  ///< n, finite, >= 0
  WeightScale scale;                          ///< for all samples
  /// m, out: by how much each candidate lowers the sum of weights, that is the sum over the samples
  /// that are nearer to it (by distance.hpp) than their squared distance says, of the weight of
  /// that squared distance less the weight of the one to the candidate.
  std::int64_t* gains = nullptr;
};
static_assert(sizeof(GainsRequest) == 56);

/// Belongs to a session: lives as long as it, and serves one thread at a time like it. Methods
/// restore the floating-point modes, return `cancelled` soon after `observer` (may be null) has
/// answered stop_requested() with true, and leave the outputs undefined after any status but ok.
class SeedingKernels {
 public:
  /// Folds further centroids into the squared distances of all samples.
  virtual Status nearest(const NearestRequest& request, Observer* observer) noexcept = 0;
  /// Rates candidates for the next centroid.
  virtual Status gains(const GainsRequest& request, Observer* observer) noexcept = 0;

 protected:
  ~SeedingKernels() = default;
};

}  // namespace lloyd
