// How this program starts itself as a worker.
#pragma once

#include <string>
#include <vector>

namespace lloyd::apps {

/// The command line of `lloyd worker` for a child of this process, with further arguments.
std::vector<std::string> worker_command(const std::vector<std::string>& arguments = {});

}  // namespace lloyd::apps
