// What a session says it chose, on this side of the boundary.
#pragma once

#include <string>

#include <lloyd/plugin/backend.hpp>

namespace lloyd {

/// The notes on the session's last call, printable and cut to kMaxNotesBytes; empty where the
/// session offers none.
std::string session_notes(Session& session);

}  // namespace lloyd
