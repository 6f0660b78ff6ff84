// ResidentSeeding: an optional interface for greedy k-means++ with the distances kept in device
// memory. The host obtains it by name with Session::query().
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>

namespace lloyd {

/// Name of the interface. Any change gets a new name.
inline constexpr char kResidentSeeding[] = "lloyd.resident_seeding/1";

/// Part of a session: shares its lifetime, and likewise serves one thread at a time. The squared
/// distance of each of the n samples to its nearest centroid, see distance.hpp, stays in the
/// session. The program runs the algorithm and draws all random numbers. Order of calls:
///
///     begin_seeding, add, { weigh, find, rate, add }..., end_seeding
///
/// fit(), label(), partial() and the passes of the session first end the seeding. Methods restore
/// the floating-point modes. They return `invalid_argument` if called out of order or for rows out
/// of range, and `cancelled` soon after `observer` (may be null) returned true from
/// stop_requested(). After any status but ok, the outputs are undefined and only begin_seeding()
/// and end_seeding() may be called. All arrays are in host memory.
class ResidentSeeding {
 public:
  /// Begins a seeding with no centroids chosen; ends the previous one.
  virtual Status begin_seeding() noexcept = 0;
  /// Makes a sample a centroid. `largest`: set to the largest of all squared distances.
  virtual Status add(std::int64_t row, Observer* observer, double* largest) noexcept = 0;
  /// Computes the weight of each sample, see WeightScale. `total`: set to their sum.
  virtual Status weigh(const WeightScale& scale, Observer* observer,
                       std::int64_t* total) noexcept = 0;
  /// For each of `count` positions in [0, total): sets rows[i] to the first row whose weight, added
  /// to those of all lower rows, exceeds positions[i].
  virtual Status find(const std::int64_t* positions, std::int64_t count,
                      std::int64_t* rows) noexcept = 0;
  /// Sets gains[i] to the reduction of the sum of all weights if sample rows[i] became a centroid:
  /// GainsRequest::gains, with the scale of the last weigh().
  virtual Status rate(const std::int64_t* rows, std::int64_t count, Observer* observer,
                      std::int64_t* gains) noexcept = 0;
  /// Ends the seeding and frees its memory. No effect if none was begun.
  virtual void end_seeding() noexcept = 0;

 protected:
  ~ResidentSeeding() = default;
};

}  // namespace lloyd
