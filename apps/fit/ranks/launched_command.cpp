#include "fit/ranks/launched_command.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/registry.hpp>

#include "options/context.hpp"
#include "output/messages.hpp"
#include "output/output.hpp"
#include "supervision/interrupt.hpp"
#include "supervision/supervision.hpp"
#include "text/whole_number.hpp"

namespace lloyd::apps {
namespace {

// The processes that a launcher started, as one of its environment variables says.
struct LaunchedProcesses {
  std::string variable;
  std::string number;
};

// For processes without a LaunchedJob: their plugin for MPI is missing or refused.
std::optional<LaunchedProcesses> unjoined_processes() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0' || std::string_view(value) == "1") continue;
    return LaunchedProcesses{variable, printable(value)};
  }
  return std::nullopt;
}

// Throws InputError if mpirun started this process as one of several that cannot be joined.
void refuse_unjoined_processes(const std::vector<RefusedPlugin>& refused) {
  const std::optional<LaunchedProcesses> launched = unjoined_processes();
  if (!launched) return;
  throw InputError(fmt::format(
      "a launcher started {} processes ({}), but this lloyd has no MPI plugin "
      "(lloyd-communicator-mpi.so), so each would do the whole work; build lloyd where MPI is "
      "installed, or unset the variable{}{}",
      launched->number, launched->variable, refused.empty() ? "" : "; ",
      refused.empty() ? "" : refused.front().reason));
}

// The innermost subcommand that was parsed, with its path: "data info".
std::string parsed_command(const CLI::App& app) {
  std::string path;
  for (const CLI::App* sub = &app; !sub->get_subcommands().empty();) {
    sub = sub->get_subcommands().front();
    path += (path.empty() ? "" : " ") + sub->get_name();
  }
  return path;
}

}  // namespace

std::optional<LaunchedJob> find_job(const Context& context) {
  std::vector<RefusedPlugin> refused;
  std::optional<LaunchedJob> job =
      find_launched_job(Registry::default_folders(context.plugin_folders), &refused);
  if (!job) refuse_unjoined_processes(refused);
  return job;
}

bool is_only_process(const Context& context, std::string_view command, std::string_view advice) {
  std::optional<LaunchedProcesses> launched = unjoined_processes();
  if (const auto job = find_launched_job(Registry::default_folders(context.plugin_folders))) {
    launched = LaunchedProcesses{job->variable, std::to_string(job->processes)};
  }
  if (!launched) return true;
  if (!is_first_launched()) return false;
  throw InputError(fmt::format(
      "a launcher started {} processes ({}), but '{}' must be started as one process, without a "
      "launcher: {}",
      launched->number, launched->variable, command, advice));
}

void add_comm_timeout(CLI::App& command, std::int64_t& seconds) {
  command
      .add_option("--comm-timeout", seconds,
                  "With several ranks (mpirun, srun): seconds to wait for a rank that does not "
                  "respond; 0: no limit")
      ->check(whole_number(0, 1000000))
      ->capture_default_str();
}

int run_on_ranks(const Context& context, const LaunchedJob& job, std::int64_t timeout,
                 const std::function<ExitStatus(RankScope& scope, Delivery& delivery)>& body) {
  supervise(context.plugin_limit());
  install_interrupt_handler();
  RankScope scope(job, static_cast<double>(timeout));
  Delivery delivery;
  const int status = scope.run(
      [&] { return with_core_errors([&] { return static_cast<int>(body(scope, delivery)); }); });
  delivery.finish();  // only rank 0 has anything to report
  return status;
}

int fail_usage(const CLI::App& app, const Context& context, const std::string& sentence) {
  const std::string command = parsed_command(app);
  const bool joins_ranks = command == "fit" || command == "predict";
  std::optional<LaunchedJob> job;
  if (joins_ranks || command == "data info" || command == "run") {
    try {
      job = find_launched_job(Registry::default_folders(context.plugin_folders));
    } catch (const Error&) {
      // The wrong command line is reported, not this.
    }
  }
  if (job && joins_ranks) {
    constexpr std::int64_t kTimeout = 60;  // seconds; the option has perhaps not been read
    bool joined = false;
    try {
      return run_on_ranks(context, *job, kTimeout, [&](RankScope& scope, Delivery&) -> ExitStatus {
        joined = true;
        scope.ranks().together([&] { throw InputError(sentence); });
        return kBadInput;
      });
    } catch (const Error&) {
      if (joined) throw;
    }
  }
  if (job && !is_first_launched()) {
    // If this rank failed too, the launcher might end rank 0 before it has reported the error.
    return joins_ranks ? kBadInput : kDone;
  }
  write_message(failure_message(sentence));
  return kBadInput;
}

}  // namespace lloyd::apps
