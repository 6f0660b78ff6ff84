#include "session/session_notes.hpp"

#include <cstring>

#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/abi/session_notes.hpp>

namespace lloyd {

std::string session_notes(Session& session) {
  const auto* const offered = static_cast<const SessionNotes*>(session.query(kSessionNotes));
  const char* const text = offered == nullptr ? nullptr : offered->notes();
  if (text == nullptr) return {};
  return printable({text, ::strnlen(text, static_cast<std::size_t>(kMaxNotesBytes - 1))});
}

}  // namespace lloyd
