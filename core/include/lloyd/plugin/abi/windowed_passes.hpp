// WindowedPasses: an optional interface like PassKernels for rows that are not in memory. In every
// pass the session receives them window by window. The host obtains it by name with
// Session::query().
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>

namespace lloyd {

/// Name of the interface. Later minor versions may append fields to the structs, which an earlier
/// plugin ignores; any other change gets a new name.
inline constexpr char kWindowedPasses[] = "lloyd.windowed_passes/1";

/// The rows of a data set for one pass, in consecutive windows. Implemented by the host. A status
/// other than ok ends the pass, and the session returns it.
class RowWindows {
 public:
  /// Moves to the next window, and ends the current one. The windows are not empty and cover all
  /// rows once, in ascending order. Must not be called after the last window. `data`: the first row
  /// of the window, with the stride of the DatasetView; valid until the next call of next() or the
  /// end of the pass. Called on the thread of the pass, while no call of load() is running.
  virtual Status next(RowRange* rows, const void** data) noexcept = 0;
  /// Reads `rows`, which are within the current window, into the memory of the window. Their values
  /// are undefined before. Rows that were loaded may be loaded again. May be called from several
  /// threads at the same time, with disjoint rows. Load 64 KiB to 1 MiB per call for best
  /// throughput.
  virtual Status load(RowRange rows) noexcept = 0;

 protected:
  ~RowWindows() = default;
};

/// Part of a session that was opened on a DatasetView with the capability kCapabilityRowWindows,
/// whose `data` is null. It shares the lifetime of the session and likewise serves one thread at a
/// time. fit(), label() and partial() of such a session return `unsupported`. The order of calls,
/// their results and statuses are those of PassKernels, for any windows; only the samples come from
/// `windows`.
class WindowedPasses {
 public:
  /// PassKernels::begin().
  virtual Status begin(const PassOptions& options) noexcept = 0;
  /// PassKernels::pass().
  virtual Status pass(const PassRequest& request, RowWindows& windows, Observer* observer,
                      PassResult& result) noexcept = 0;
  /// PassKernels::farthest().
  virtual Status farthest(std::int64_t wanted, RowWindows& windows, Observer* observer,
                          FarSample* samples, std::int64_t* count) noexcept = 0;
  /// PassKernels::labels().
  virtual Status labels(std::int32_t* labels) noexcept = 0;
  /// PassKernels::end().
  virtual void end() noexcept = 0;

 protected:
  ~WindowedPasses() = default;
};

}  // namespace lloyd
