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
/// because they were killed. Only files whose process certainly no longer exists are removed: its
/// number must be from the SPACE of this process, which stands for the PID namespace and the last
/// start of the machine, so files of other hosts and containers stay. Errors are ignored.
void remove_leftovers(const std::filesystem::path& folder) noexcept;

}  // namespace lloyd
