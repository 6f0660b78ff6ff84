// Starts a program with exactly the descriptors that it is meant to have.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace lloyd::apps {

/// Starts `command`, a program's path and its arguments, as the leader of a process group of its
/// own, with no signal blocked or ignored. `descriptors[i]` becomes its descriptor i, or /dev/null
/// where it is negative; it has no others. `environment`: "NAME=value" each; without one, that of
/// this process. Throws Error where no process can be started.
pid_t spawn(const std::vector<std::string>& command, const std::vector<int>& descriptors,
            const std::vector<std::string>* environment = nullptr);

}  // namespace lloyd::apps
