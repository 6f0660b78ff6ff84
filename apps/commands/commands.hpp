// The subcommands of the program.
#pragma once

#include <CLI/CLI.hpp>

#include "options/context.hpp"
#include "process/exit_status.hpp"

namespace lloyd::apps {

/// Each function adds one subcommand, whose callback sets `context.action`. An action returns an
/// ExitStatus, or throws InputError (status 2) or another exception (status 1).
void add_run_command(CLI::App& app, Context& context);
void add_fit_command(CLI::App& app, Context& context);
void add_predict_command(CLI::App& app, Context& context);
void add_backends_command(CLI::App& app, Context& context);
void add_verify_command(CLI::App& app, Context& context);
void add_new_plugin_command(CLI::App& app, Context& context);
void add_data_command(CLI::App& app, Context& context);
void add_doctor_command(CLI::App& app, Context& context);
void add_report_command(CLI::App& app, Context& context);
void add_compare_command(CLI::App& app, Context& context);
void add_history_command(CLI::App& app, Context& context);
/// Adds help, man and completion, which describe the other commands: call it after those functions.
void add_help_commands(CLI::App& app, Context& context);
/// Adds `worker` if another process of Lloyd started this one; otherwise adds nothing.
void add_worker_command(CLI::App& app, Context& context);
/// Adds `serve-rank`, which the launcher of a trial starts. It is not listed.
void add_rank_command(CLI::App& app, Context& context);

}  // namespace lloyd::apps
