// Commands whose process is one of several that a launcher such as mpirun started.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include <lloyd/launched_ranks.hpp>

#include "fit/ranks/rank_scope.hpp"
#include "output/delivery.hpp"
#include "process/exit_status.hpp"

namespace lloyd::apps {

struct Context;

/// The job that this process is part of; none if it was started alone. Throws InputError if mpirun
/// started it as one of several, but its plugin for MPI is missing or refused.
std::optional<LaunchedJob> find_job(const Context& context);

/// For a command that several processes must not run at once: true if this process was started
/// alone. Of several, the first one throws InputError, which names the command and the advice, and
/// the others return false; they must end with kDone, so that the launcher does not end the first
/// one before it has reported the error.
bool is_only_process(const Context& context, std::string_view command, std::string_view advice);

/// Adds --comm-timeout, in seconds.
void add_comm_timeout(CLI::App& command, std::int64_t& seconds);

/// Joins the ranks of a job, runs `body` on all of them, and returns the exit status. `body` is
/// subject to the rules of RankScope::run(); files that it cannot deliver are reported at the end.
int run_on_ranks(const Context& context, const LaunchedJob& job, std::int64_t timeout,
                 const std::function<ExitStatus(RankScope& scope, Delivery& delivery)>& body);

/// Reports a wrong command line and returns the exit status. Of several ranks, rank 0 alone reports
/// it. If the command joins the ranks and only some were given a wrong one, all fail. If it does
/// not join them, the other ranks return kDone, as is_only_process() says.
int fail_usage(const CLI::App& app, const Context& context, const std::string& sentence);

}  // namespace lloyd::apps
