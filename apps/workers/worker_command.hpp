// Command line with which this program starts itself as a worker.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lloyd::apps {

/// Descriptor number of a worker's socket.
inline constexpr int kWorkerSocket = 3;

/// True if this process was started as a worker: kWorkerSocket is such a socket.
bool has_worker_socket() noexcept;

/// Path that executes this program again. Throws Error if /proc/self/exe cannot be read.
std::filesystem::path program_file();

/// Command line of `lloyd worker` for a child of this process, followed by `arguments`.
std::vector<std::string> worker_command(const std::vector<std::string>& arguments = {});

}  // namespace lloyd::apps
