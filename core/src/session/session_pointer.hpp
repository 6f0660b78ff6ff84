// SessionPointer: owns a session of a backend.
#pragma once

#include <memory>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd {

struct ReleaseSession {
  void operator()(Session* session) const { session->release(); }
};
using SessionPointer = std::unique_ptr<Session, ReleaseSession>;

}  // namespace lloyd
