// SessionNotes: an optional interface that describes the choices a session made for a problem size.
// The host obtains it by name with Session::query().
#pragma once

#include <cstdint>

namespace lloyd {

/// Name of the interface; a changed class gets a new name.
inline constexpr char kSessionNotes[] = "lloyd.notes/1";

/// Maximum size of the notes in bytes, with the terminating zero; longer notes are cut.
inline constexpr std::int64_t kMaxNotesBytes = 512;

/// Part of a session: shares its lifetime, and likewise serves one thread at a time.
class SessionNotes {
 public:
  /// The choices made for the session's last fit(), label() or partial(), for the record, for
  /// example "centroids in constant memory". Zero-terminated UTF-8, one line without control
  /// characters; empty if there is nothing to report, never null. Valid until the session's next
  /// call of these three functions or its release().
  virtual const char* notes() const noexcept = 0;

 protected:
  ~SessionNotes() = default;
};

}  // namespace lloyd
