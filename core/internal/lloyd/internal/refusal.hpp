// Tells a backend that refuses a fit from one that fails.
#pragma once

#include <lloyd/plugin/abi/status.hpp>

namespace lloyd {

/// True for a status with which a backend refuses a fit that it does not support here; others but
/// `ok` and `cancelled` report a failure.
constexpr bool is_refusal(StatusCode code) {
  return code == StatusCode::invalid_argument || code == StatusCode::unsupported ||
         code == StatusCode::unavailable || code == StatusCode::out_of_memory;
}

}  // namespace lloyd
