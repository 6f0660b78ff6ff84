// SupervisionBoard: state of a supervised process in shared memory, readable by its supervisor even
// if the process hangs or has lost its descriptors.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {

/// The plugin call that is running.
enum class PluginCall : std::int32_t {
  none,  ///< Lloyd's own code runs
  load,  ///< the library, whose constructors run
  probe,
  create,
  info,
  supports,
  estimate,
  open,
  fit,
  label,
  partial,
  seeding_nearest,
  seeding_gains,
  resident_begin,
  resident_add,
  resident_weigh,
  resident_find,
  resident_rate,
  resident_end,
  passes_begin,
  passes_pass,
  passes_farthest,
  passes_labels,
  passes_end,
  device_passes_pass,
  windows_begin,
  windows_pass,
  windows_farthest,
  windows_labels,
  windows_end,
  evict,
  query,
  notes,
  release_session,
  release_backend,
};

/// "fit()", "PassKernels::pass()"; empty for `none` and for invalid values.
std::string_view to_string(PluginCall call);

/// " in fit()", " while it was loaded", for the end of a sentence about a plugin; empty for `none`.
std::string place_of(PluginCall call);

/// A zero-terminated text in shared memory, at most Size - 1 bytes.
template <std::size_t Size>
class SharedText {
 public:
  /// Truncates a longer text.
  void set(std::string_view text) noexcept {
    const std::size_t length = text.copy(text_, Size - 1);
    text_[length] = '\0';
  }
  /// Safe for any content: another process may have overwritten the buffer.
  std::string get() const {
    const std::string_view all(text_, Size);
    return std::string(all.substr(0, all.find('\0')));
  }

 private:
  char text_[Size] = {};
};

/// Lies in memory shared with child processes: they write, the supervisor reads.
class SupervisionBoard {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kNoStatus = -1;

  /// Creates a board in a shared mapping that is never released. Throws Error.
  static SupervisionBoard& make();

  /// Marks a call as begun. Returns the former mark, for end(). Calls may overlap, on one thread or
  /// on several.
  PluginCall begin(PluginCall call) noexcept;
  /// Marks a call as ended: the mark becomes `none` if no other call is running, else `former`
  /// unless that is `none`.
  void end(PluginCall former) noexcept;
  /// Forgets calls that did not end, such as those of a child that was killed.
  void clear_calls() noexcept;
  PluginCall call() const noexcept { return call_; }
  /// Time of the last begin(), end(), clear_calls() or set_status().
  Clock::time_point changed_at() const noexcept;

  /// Sets the exit status that the process is about to end with. Async-signal-safe.
  void set_status(int status) noexcept;
  int status() const noexcept { return status_; }

  /// The process that continues the command; 0 before it begins.
  void set_process(pid_t process) noexcept { process_ = process; }
  pid_t process() const noexcept { return process_; }

  SharedText<512> place;         ///< where and when the child works, for messages; empty: unknown
  SharedText<4096> file;         ///< path of the plugin loaded last
  SharedText<4096> backends;     ///< names of the loaded backends, quoted
  SharedText<16384> failure;     ///< sentence for the supervisor to print; empty: none
  SharedText<1024> termination;  ///< why the process ends, to follow "since"; empty: unknown
  SharedText<256> setting;  ///< parameter that a case of the suite varies, "tile=0"; empty: none

 private:
  PluginCall mark(PluginCall call) noexcept;

  std::atomic<PluginCall> call_{PluginCall::none};
  std::atomic<int> running_calls_{0};
  std::atomic<std::int64_t> changed_at_{0};
  std::atomic<int> status_{kNoStatus};
  std::atomic<pid_t> process_{0};
  static_assert(std::atomic<PluginCall>::is_always_lock_free);
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
  static_assert(std::atomic<int>::is_always_lock_free);
};

/// A board that another program maps; owns the mapping of this process.
class SharedBoard {
 public:
  /// Throws Error.
  SharedBoard();
  ~SharedBoard();
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

  const SupervisionBoard& board() const { return *board_; }
  /// The descriptor to send to the other program; the caller closes it. Call it once.
  Descriptor take_descriptor() { return std::move(descriptor_); }
  /// Maps the board of another process, which is never unmapped. Throws Error.
  static SupervisionBoard& map(int descriptor);

 private:
  Descriptor descriptor_;
  SupervisionBoard* board_ = nullptr;
};

}  // namespace lloyd::apps
