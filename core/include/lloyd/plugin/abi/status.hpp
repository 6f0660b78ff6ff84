// Status: the result code and message of every call across the plugin boundary.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>

namespace lloyd {

/// Result code of a call.
enum class StatusCode : std::int32_t {
  ok = 0,         ///< all requested outputs are valid
  cancelled = 1,  ///< the observer stopped the call; FitResult::valid and LabelResult::valid tell
                  ///< which outputs are valid; other results are undefined
  invalid_argument = 2,  ///< the request is invalid for every backend
  unsupported = 3,       ///< beyond a limit of this backend, which the message gives
  unavailable = 4,       ///< no usable device or driver
  out_of_memory = 5,     ///< host or device memory is exhausted
  empty_cluster = 6,     ///< a cluster became empty under EmptyClusters::error
  device_error = 7,      ///< the device reported an error
  internal = 8,          ///< a defect in the plugin
};

/// Result of a call. Outputs are undefined after any code but `ok`, and `cancelled` from a call
/// whose result has a field `valid`.
struct Status {
  StatusCode code = StatusCode::ok;  ///< how the call ended
  char message[508] = {};            ///< one sentence, zero-terminated, UTF-8; empty for `ok`

  /// True if the call succeeded.
  bool ok() const { return code == StatusCode::ok; }

  /// A status with a code and a message, which is cut if it does not fit.
  static Status error(StatusCode code, std::string_view text) {
    Status status;
    status.code = code;
    const auto length =
        text.size() < sizeof(status.message) ? text.size() : sizeof(status.message) - 1;
    std::memcpy(status.message, text.data(), length);
    return status;
  }
};
static_assert(sizeof(Status) == 512);

/// Thrown inside of a plugin; guarded() returns its status to the host.
class StatusError : public std::exception {
 public:
  /// Constructs from a code and a message.
  StatusError(StatusCode code, std::string_view text) : status_(Status::error(code, text)) {}
  /// Constructs from a status that another call returned.
  explicit StatusError(const Status& status) : status_(status) {}
  /// The status that guarded() returns.
  const Status& status() const { return status_; }
  /// The message of the status.
  const char* what() const noexcept override { return status_.message; }

 private:
  Status status_;
};

/// Throws `cancelled`, because the observer requested to stop.
[[noreturn]] inline void throw_cancelled() {
  throw StatusError(StatusCode::cancelled, "the observer asked to stop");
}

}  // namespace lloyd
