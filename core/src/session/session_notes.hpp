// Reads the notes of a session; see plugin/session_notes.hpp.
#pragma once

#include <string>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd {

/// The notes on the session's last call, printable and cut to kMaxNotesBytes; empty if the session
/// has none.
std::string session_notes(Session& session);

}  // namespace lloyd
