// SessionNotes: what a session chose from the sizes, in words. Asked for by its name with
// Session::query(); a backend that chooses nothing does not offer it.
#pragma once

#include <cstdint>

namespace lloyd {

/// Name of the interface; a change of the class takes another.
inline constexpr char kSessionNotes[] = "lloyd.notes/1";

/// Room that the notes take at most, with the zero at their end; what is longer is cut.
inline constexpr std::int64_t kMaxNotesBytes = 512;

/// Belongs to a session: lives as long as it, and serves one thread at a time like it.
class SessionNotes {
 public:
  /// A few words on what was chosen for the session's last fit(), label() or partial(), for the
  /// record: "centroids in constant memory". Zero-terminated UTF-8 in one line without control
  /// characters; empty where there is nothing to say, never null. Valid until the session's next
  /// call of these three, and until its release().
  virtual const char* notes() const noexcept = 0;

 protected:
  ~SessionNotes() = default;
};

}  // namespace lloyd
