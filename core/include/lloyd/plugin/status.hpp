// Status: how every call across the plugin boundary says whether it succeeded.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>

namespace lloyd {

/// How a call ended.
enum class StatusCode : std::int32_t {
  ok = 0,                ///< all outputs that were wanted are there
  cancelled = 1,         ///< the observer asked to stop; the result says what is valid
  invalid_argument = 2,  ///< a request that no backend could serve
  unsupported = 3,       ///< a request beyond the limits of this backend; the message gives them
  unavailable = 4,       ///< the device or driver is not there
  out_of_memory = 5,     ///< host or device memory ran out
  empty_cluster = 6,     ///< a cluster became empty and the policy was `error`
  device_error = 7,      ///< the device reported an error
  internal = 8,          ///< a defect in the plugin
};

/// Result of a call. After any code but `ok` and `cancelled` the outputs are undefined.
struct Status {
  StatusCode code = StatusCode::ok;  ///< how the call ended
  char message[508] = {};            ///< one sentence, zero-terminated, UTF-8; empty for `ok`

  /// Whether the call did what was asked.
  bool ok() const { return code == StatusCode::ok; }

  /// A status with a message; a message too long for the buffer is cut.
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

/// Thrown inside a plugin to leave a deep call; the guard turns it into its status.
class StatusError : public std::exception {
 public:
  /// A status of this code and message.
  StatusError(StatusCode code, std::string_view text) : status_(Status::error(code, text)) {}
  /// Carries a status that a call returned.
  explicit StatusError(const Status& status) : status_(status) {}
  /// What the guard returns.
  const Status& status() const { return status_; }
  /// The status's message.
  const char* what() const noexcept override { return status_.message; }

 private:
  Status status_;
};

/// Ends a fit or a request because the observer asked to stop.
[[noreturn]] inline void throw_cancelled() {
  throw StatusError(StatusCode::cancelled, "the observer asked to stop");
}

}  // namespace lloyd
