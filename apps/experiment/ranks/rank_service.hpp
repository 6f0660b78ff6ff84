// The work of one rank of a trial.
#pragma once

#include <chrono>
#include <filesystem>

namespace lloyd::experiment {

/// Joins the other ranks that the launcher started and runs the trial whose files are in `folder`,
/// see RankFiles. `plugin_limit`: time limit for loading a plugin. Returns the exit status. If it
/// throws, the reason has been written to the failure file, unless another rank was first.
int serve_rank(const std::filesystem::path& folder, std::chrono::seconds plugin_limit);

}  // namespace lloyd::experiment
