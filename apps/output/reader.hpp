// Writing to whoever reads messages or results, who may not do so.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string_view>

namespace lloyd::apps {

/// As write(2), but writes only a part of `text`, does not wait (EAGAIN), and raises no SIGPIPE
/// where nobody reads any more (EPIPE). It may wait for what the caller must not open anew.
ssize_t write_at_once(int descriptor, std::string_view text);

/// As write_at_once(), but waits for the reader. Returns 0 if nothing was read within `grace` of
/// the later of this call and the request to stop, see interrupted().
ssize_t write_to_reader(int descriptor, std::string_view text, std::chrono::milliseconds grace);

}  // namespace lloyd::apps
