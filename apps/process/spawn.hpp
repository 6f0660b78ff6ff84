// Starts a program with exactly the given descriptors.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace lloyd::apps {

/// Starts `command` (the program's path, then its arguments) as the leader of a new process group,
/// with no signal blocked or ignored. `descriptors[i]` becomes its descriptor i, /dev/null if
/// negative; all others are closed. `environment`: strings "NAME=value"; null: the environment of
/// this process. Throws Error if the process cannot be started.
pid_t spawn(const std::vector<std::string>& command, const std::vector<int>& descriptors,
            const std::vector<std::string>* environment = nullptr);

}  // namespace lloyd::apps
