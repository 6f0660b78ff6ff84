// DevicePasses: an optional interface of sessions on a device. The host runs the passes of a fit
// one by one, like PassKernels, but centroids and outputs are in device memory and the work is
// ordered by a stream of the caller.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd {

/// Name of DevicePasses. A separate interface, because an older plugin would ignore a new
/// memory-space field of PassRequest and read device addresses as host addresses. Later minor
/// versions may append fields to the structs, which an earlier plugin ignores; any other change
/// gets a new name.
inline constexpr char kDevicePasses[] = "lloyd.device_passes/1";

/// Request for one pass: labels all samples. The arrays are in the memory of the session's device
/// and belong to the caller; null means that an output is not requested.
struct DevicePassRequest {
  std::uint64_t struct_size = sizeof(DevicePassRequest);  ///< sizeof on the allocating side
  const double* centroids = nullptr;                      ///< k x d, row-major, finite; not null
  /// limbs x k x d; the pass adds to it as PassKernels::pass() adds to PassRequest::sums.
  std::int64_t* sums = nullptr;
  std::int64_t* counts = nullptr;  ///< k; the change of the counts is added likewise
  /// 1 value; the number of changed labels (PassResult::changed) is added.
  std::int64_t* changed = nullptr;
  /// ExactSum::kChunks values. The pass adds the chunks of the inertia, each in [0, 2^32), so that
  /// 2^31 passes (over all sessions) cannot overflow. The last chunk (weight 2^1070) stays below
  /// 2^32: a sum of at most 2^63 values < 2^1024 is < 2^1087. To read the inertia, copy the
  /// chunks into an ExactSum and call value().
  std::int64_t* inertia = nullptr;
  /// The caller's stream on that device (CUDA: a cudaStream_t; null: the default stream).
  void* stream = nullptr;
};
static_assert(sizeof(DevicePassRequest) == 56);

/// The part of a pass's result that is known when the call returns.
struct DevicePassResult {
  std::uint64_t struct_size = sizeof(DevicePassResult);  ///< sizeof on the allocating side
  /// Sample-centroid distances evaluated. Negative if the device counts them: the next
  /// PassKernels::pass() of the sequence includes them in PassResult::distances.
  std::int64_t distances = -1;
};
static_assert(sizeof(DevicePassResult) == 16);

/// Part of a session that has PassKernels: shares its lifetime, and likewise serves one thread at a
/// time. PassKernels::begin() and end() delimit a sequence, in which both kinds of passes may
/// alternate. farthest() and labels() refer to the last pass of either kind. Outputs are
/// bit-identical to those of PassKernels::pass().
class DevicePasses {
 public:
  /// Labels all samples by the given centroids. The pass begins after the work already queued on
  /// the stream. Work that is enqueued on the stream after the call sees the outputs and may
  /// overwrite the centroids. Sessions that share arrays and a stream therefore add one after
  /// another. The arrays must not overlap. Passes that add to the same arrays must use the same
  /// stream.
  ///
  /// The call may wait until the previous pass of the session and the work already queued on the
  /// stream have finished, so that the backend can read the centroids. While it waits for the work
  /// queued on the stream, it polls the observer. The call may return before the outputs are
  /// written; an error of the device that occurs later is returned by a later call. All later calls
  /// of the session are ordered after the pass.
  ///
  /// Returns `invalid_argument` if it is called before begin() or if the centroids are null, and
  /// `cancelled` if stop_requested() of `observer` (may be null) returned true during the call.
  /// Once the call has returned ok, the pass cannot be cancelled. After any status but ok, no work
  /// of the pass is running, the outputs are undefined, and only begin() and end() may be called.
  virtual Status pass(const DevicePassRequest& request, Observer* observer,
                      DevicePassResult& result) noexcept = 0;

 protected:
  ~DevicePasses() = default;
};

}  // namespace lloyd
