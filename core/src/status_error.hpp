// Statuses as exceptions, where the core is itself what a session is made of.
#pragma once

#include <lloyd/plugin/status.hpp>

namespace lloyd {

/// Throws StatusError unless the status is ok.
inline void throw_if_error(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}

}  // namespace lloyd
