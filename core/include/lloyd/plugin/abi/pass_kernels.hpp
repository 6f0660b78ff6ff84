// PassKernels: an optional interface by which the host runs the passes of a fit one by one, while
// labels and bounds stay in the session. The host obtains it by name with Session::query().
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd {

/// Name of the interface. Later minor versions may append fields to the structs, which an earlier
/// plugin ignores; any other change gets a new name.
inline constexpr char kPassKernels[] = "lloyd.fit_pass/1";

/// How cluster sums are split into 64-bit limbs, which are added without carries: a sum is the sum
/// over i of limb[i] * 2^(i * bits), in multiples of the feature's quantum. After a single pass
/// into zeroed arrays, all limbs but the last are in [0, 2^bits).
struct SumLimbs {
  std::int32_t count = 1;  ///< limbs of a sum, 1 to 8
  std::int32_t bits = 63;  ///< bits of each but the last, 1 to 63
};
static_assert(sizeof(SumLimbs) == 8);

/// Properties of all passes from one begin() to the next.
struct PassOptions {
  std::uint64_t struct_size = sizeof(PassOptions);  ///< sizeof on the allocating side
  std::int64_t clusters = 0;                        ///< k >= 1; may exceed n
  SumLimbs limbs;                                   ///< of all sums
};
static_assert(sizeof(PassOptions) == 24);

/// Request for one pass: labels all samples. The arrays are in host memory and belong to the
/// caller; null means that an output is not requested.
struct PassRequest {
  std::uint64_t struct_size = sizeof(PassRequest);  ///< sizeof on the allocating side
  /// k x d, row-major, finite; valid and unchanged until the next pass() or end().
  const double* centroids = nullptr;
  /// limbs x k x d. First pass: adds every sample to the sum of its cluster. Later passes: for each
  /// sample whose label changed, subtracts it from the former cluster and adds it to the new one.
  std::int64_t* sums = nullptr;
  std::int64_t* counts = nullptr;  ///< k; the change of the counts is added likewise
  ExactSum* inertia = nullptr;     ///< the squared distances to the assigned centroids are added
};
static_assert(sizeof(PassRequest) == 40);

/// Result of one pass.
struct PassResult {
  std::uint64_t struct_size = sizeof(PassResult);  ///< sizeof on the allocating side
  std::int64_t changed = 0;  ///< labels that differ from those of the previous pass; n in the first
  std::int64_t distances = 0;  ///< sample-centroid distances evaluated
  /// Labels that the screening could not prove and the defined float64 distances decided. Negative
  /// if the backend does not screen.
  std::int64_t exact_fallbacks = -1;
};
static_assert(sizeof(PassResult) == 32);

/// Part of a session: shares its lifetime, and likewise serves one thread at a time. Order of
/// calls:
///
///     begin, { pass, [farthest], [labels] }..., end
///
/// fit(), label() and partial() of the session first end the passes. Methods leave the caller's
/// floating-point modes as they were. They return `invalid_argument` if called out of order or for
/// clusters or limbs out of range, and `cancelled` soon after stop_requested() of `observer` (may
/// be null) returned true. After any status but ok, the outputs are undefined and only begin() and
/// end() may be called.
class PassKernels {
 public:
  /// Begins a sequence of passes; no sample has a label yet. Ends the previous sequence. Returns
  /// `unsupported` if the data set has no integer sums (see SumForm).
  virtual Status begin(const PassOptions& options) noexcept = 0;
  /// Labels all samples by the given centroids.
  virtual Status pass(const PassRequest& request, Observer* observer,
                      PassResult& result) noexcept = 0;
  /// Finds the `wanted` samples that are farthest from the centroid of their label, by labels and
  /// centroids of the last pass. Writes them to `samples`, by descending distance, then row, and
  /// their number to `count`; it is smaller than `wanted` only if fewer have a distance > 0.
  virtual Status farthest(std::int64_t wanted, Observer* observer, FarSample* samples,
                          std::int64_t* count) noexcept = 0;
  /// Writes the labels of the last pass to `labels` (n).
  virtual Status labels(std::int32_t* labels) noexcept = 0;
  /// Ends the passes and frees their memory. No effect if none were begun.
  virtual void end() noexcept = 0;

 protected:
  ~PassKernels() = default;
};

}  // namespace lloyd
