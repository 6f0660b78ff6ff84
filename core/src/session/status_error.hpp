// Converts a Status to an exception, inside of sessions that the core implements itself.
#pragma once

#include <lloyd/plugin/abi/status.hpp>

namespace lloyd {

/// Throws StatusError unless the status is ok.
inline void throw_if_error(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}

}  // namespace lloyd
