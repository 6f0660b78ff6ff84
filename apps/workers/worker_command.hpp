// How this program starts itself as a worker.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lloyd::apps {

/// The descriptor that a worker finds its socket at.
inline constexpr int kWorkerSocket = 3;

/// What starts this program anew. Throws Error where the system does not tell.
std::filesystem::path program_file();

/// The command line of `lloyd worker` for a child of this process, with further arguments.
std::vector<std::string> worker_command(const std::vector<std::string>& arguments = {});

}  // namespace lloyd::apps
