// `lloyd fit` by several processes that a launcher such as mpirun started.
#pragma once

#include <lloyd/launched_ranks.hpp>

#include "fit/fit_command_options.hpp"

namespace lloyd::apps {

struct Context;

/// Fits one data set as one rank of the job: reads a part of its rows, and writes their labels.
/// Rank 0 prints the result and writes centroids and model. Returns the exit status. Throws
/// InputError for options and formats that need one process.
int fit_on_ranks(const Context& context, FitCommandOptions options, const LaunchedJob& job);

}  // namespace lloyd::apps
