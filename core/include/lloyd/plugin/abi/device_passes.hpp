// DevicePasses: an optional interface of sessions on a device. The host runs passes of PassKernels
// with centroids and results in device memory, in the order of a stream of its own.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd {

/// Name of DevicePasses. It is not a part of PassKernels because a plugin ignores fields that are
/// newer than itself, and would read device addresses as host addresses. Later minor versions may
/// append fields to the structs, which an earlier plugin ignores; any other change gets a new name.
inline constexpr char kDevicePasses[] = "lloyd.device_passes/1";

/// Request for one pass: labels all samples. The arrays are in the memory of the session's device
/// and belong to the caller; null means that an output is not requested.
struct DevicePassRequest {
  std::uint64_t struct_size = sizeof(DevicePassRequest);  ///< sizeof on the allocating side
  const double* centroids = nullptr;                      ///< k x d, row-major, finite; not null
  std::int64_t* sums = nullptr;     ///< limbs x k x d; changes are added, as to PassRequest::sums
  std::int64_t* counts = nullptr;   ///< k; the change of the counts is added likewise
  std::int64_t* changed = nullptr;  ///< 1; what PassResult::changed would be is added
  /// ExactSum::kChunks; the chunks of the sum of squared distances to the assigned centroids are
  /// added. A pass adds 0 to 2^32 - 1 to each chunk, so that the chunks of up to 2^31 passes, of
  /// all sessions together, can be added without carries. ExactSum::value() of the copied chunks is
  /// the inertia.
  std::int64_t* inertia = nullptr;
  /// The caller's stream on that device (CUDA: a cudaStream_t; null: the default stream).
  void* stream = nullptr;
};
static_assert(sizeof(DevicePassRequest) == 56);

/// Result of one pass that is known when the call returns.
struct DevicePassResult {
  std::uint64_t struct_size = sizeof(DevicePassResult);  ///< sizeof on the allocating side
  /// Sample-centroid distances evaluated. Negative if the device counts them: the next
  /// PassKernels::pass() of the sequence includes them in PassResult::distances.
  std::int64_t distances = -1;
};
static_assert(sizeof(DevicePassResult) == 16);

/// Part of a session that has PassKernels: shares its lifetime, and likewise serves one thread at a
/// time. Passes of both kinds belong to the same sequence, in any order: PassKernels::begin()
/// begins it, farthest() and labels() refer to the last pass of either kind, and end() ends it. The
/// outputs have the bits of PassKernels::pass().
class DevicePasses {
 public:
  /// Labels all samples by the given centroids. The pass begins after the work already queued on
  /// the stream. Work that is enqueued on the stream after the call sees the outputs and may
  /// overwrite the centroids. So sessions that are given the same arrays and the same stream add to
  /// the arrays one after another.
  ///
  /// The call may wait until the previous pass of the session and the work already queued on the
  /// stream have finished, so that the backend can read the centroids. It may return before the
  /// outputs are written; an error of the device that occurs later is returned by a later call. The
  /// next call of the session waits for the pass.
  ///
  /// Returns `invalid_argument` if it is called before begin() or if the centroids are null, and
  /// `cancelled` if stop_requested() of `observer` (may be null) returned true while the call was
  /// running: after the call, the pass can no longer be cancelled. After any status but ok, no work
  /// of the pass is running, the outputs are undefined, and only begin() and end() may be called.
  virtual Status pass(const DevicePassRequest& request, Observer* observer,
                      DevicePassResult& result) noexcept = 0;

 protected:
  ~DevicePasses() = default;
};

}  // namespace lloyd
