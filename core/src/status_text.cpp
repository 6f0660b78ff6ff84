#include <lloyd/status_text.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) c = '?';
  }
  return result;
}

std::string status_message(const Status& status) {
  const char* end = std::find(status.message, status.message + sizeof(status.message), '\0');
  if (end != status.message) return printable({status.message, end});
  switch (status.code) {
    case StatusCode::ok:
      return "no error";
    case StatusCode::cancelled:
      return "cancelled";
    case StatusCode::invalid_argument:
      return "invalid argument";
    case StatusCode::unsupported:
      return "not supported";
    case StatusCode::unavailable:
      return "not available";
    case StatusCode::out_of_memory:
      return "out of memory";
    case StatusCode::empty_cluster:
      return "a cluster became empty";
    case StatusCode::device_error:
      return "device error";
    case StatusCode::internal:
      return "internal error";
  }
  return fmt::format("unknown status code {}", static_cast<int>(status.code));
}

void throw_unless_ok(const std::string& backend, const Status& status) {
  if (!status.ok()) throw BackendError(status.code, backend + ": " + status_message(status));
}

}  // namespace lloyd
