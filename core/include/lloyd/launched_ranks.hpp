// Joins the processes that a launcher, such as mpirun or srun, started together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/plugin/abi/communicator.hpp>
#include <lloyd/registry.hpp>

namespace lloyd {

/// The job that this process is part of, as described by its environment.
struct LaunchedJob {
  std::filesystem::path plugin;  ///< the communicator plugin for this launcher
  std::string variable;          ///< environment variable with the number of processes
  std::int64_t processes = 1;    ///< its value, >= 2
};

/// The communicator plugins `lloyd-communicator-*.so` in `folders` that can be loaded, judged by
/// their headers. The others are added to `refused` unless it is null.
std::vector<std::filesystem::path> find_communicators(
    const std::vector<std::filesystem::path>& folders,
    std::vector<RefusedPlugin>* refused = nullptr);

/// Returns the job if a launcher started this process as one of several. Looks at the files
/// `lloyd-communicator-*.so` in `folders` (usually Registry::default_folders()) without loading
/// them: their headers list the environment variables that hold the number of processes. The first
/// file that lists a variable above 1 is used. Files that are not communicator plugins are skipped
/// and, unless `refused` is null, added to it. Throws InputError if such a variable is neither
/// empty nor a whole number >= 1.
std::optional<LaunchedJob> find_launched_job(const std::vector<std::filesystem::path>& folders,
                                             std::vector<RefusedPlugin>* refused = nullptr);

/// Loads the plugin of the job into this process and joins the ranks; collective. Call it at most
/// once, on the main thread. Throws InputError if the plugin is refused, or if the number of ranks
/// that joined is not the number that the launcher started: launcher and MPI library then do not
/// belong together. Throws BackendError if joining fails.
std::shared_ptr<Communicator> join_ranks(const LaunchedJob& job);

}  // namespace lloyd
