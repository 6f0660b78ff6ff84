// Names of temporary files, which tell whether the process that wrote one still exists.
#pragma once

#include <filesystem>
#include <string>

namespace lloyd {

/// A name that differs between all calls in all processes:
/// `.lloyd-PROCESS-START-SPACE-RANDOM.tmp`. PROCESS: the caller's process number; START: when it
/// began, in ticks since the machine was started; SPACE: see remove_leftovers().
std::string temporary_name();

/// Removes the temporary files in `folder` that processes of this user have left, for example
/// because they were killed. Only files with the SPACE of this process (its PID namespace and the
/// boot of the machine) and a process that has ended are removed; files of other hosts and
/// containers stay. Errors are ignored.
void remove_leftovers(const std::filesystem::path& folder) noexcept;

}  // namespace lloyd
