// Writes to readers of messages and results that may be slow or gone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string_view>

namespace lloyd::apps {

/// Like write(2), but may write only a part of `text`, does not block (EAGAIN), and raises no
/// SIGPIPE if the reader is gone (EPIPE). It may block on a pipe or terminal that cannot be
/// reopened.
ssize_t write_at_once(int descriptor, std::string_view text);

/// Like write_at_once(), but waits for the reader. Returns 0 if nothing could be written within
/// `grace`, counted from this call or from the stop request (see interrupted()), whichever is
/// later.
ssize_t write_to_reader(int descriptor, std::string_view text, std::chrono::milliseconds grace);

/// Closes the private descriptors of the files that were written to: in a forked child that must
/// not keep the pipes of its parent open.
void forget_readers();

}  // namespace lloyd::apps
