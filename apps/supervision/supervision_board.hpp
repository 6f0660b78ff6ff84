// SupervisionBoard: what a supervised process lets its supervisor see at any time, also when it has
// lost its descriptors or hangs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lloyd::apps {

/// The call of a plugin that is under way.
enum class PluginCall : std::int32_t {
  none,  ///< the program's own code runs
  load,
  supports,
  estimate,
  open,
  fit,
  label,
  partial,
  seeding,
  query,
  notes,
  release_session,
  release_backend,
};

/// "fit()"; empty for `none` and for what is no call.
std::string_view to_string(PluginCall call);

/// A text of limited length in shared memory.
template <std::size_t Size>
class SharedText {
 public:
  /// Cuts what is too long.
  void set(std::string_view text) noexcept {
    const std::size_t length = text.copy(text_, Size - 1);
    text_[length] = '\0';
  }
  /// Another process may have written anything.
  std::string get() const {
    const std::string_view all(text_, Size);
    return std::string(all.substr(0, all.find('\0')));
  }

 private:
  char text_[Size] = {};
};

/// Lies in memory that is shared with children, which write, as this process reads.
class SupervisionBoard {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kNoStatus = -1;

  /// In memory of its own, which stays to the end of the process. Throws Error.
  static SupervisionBoard& make();

  /// Marks a call as begun, or with `none` as ended. Returns what was marked before.
  PluginCall mark(PluginCall call) noexcept;
  PluginCall call() const noexcept { return call_; }
  /// When the last mark or status was set.
  Clock::time_point changed_at() const noexcept;

  /// The exit status that the process is about to end with. May be called in a signal handler.
  void set_status(int status) noexcept;
  int status() const noexcept { return status_; }

  /// The process that does the work; 0 before it begins.
  void set_process(pid_t process) noexcept { process_ = process; }
  pid_t process() const noexcept { return process_; }

  SharedText<4096> file;         ///< of the plugin that was loaded last
  SharedText<4096> backends;     ///< that are loaded, quoted
  SharedText<16384> failure;     ///< the sentence that the supervisor is to print; empty: none
  SharedText<1024> termination;  ///< why std::terminate() was called; empty: it was not

 private:
  std::atomic<PluginCall> call_{PluginCall::none};
  std::atomic<std::int64_t> changed_at_{0};
  std::atomic<int> status_{kNoStatus};
  std::atomic<pid_t> process_{0};
  static_assert(std::atomic<PluginCall>::is_always_lock_free);
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
  static_assert(std::atomic<int>::is_always_lock_free);
};

}  // namespace lloyd::apps
