// lloyd run: runs an experiment.
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "context.hpp"
#include "experiment/plan_text.hpp"
#include "experiment/record_writer.hpp"
#include "experiment/run_plan.hpp"
#include "experiment/summary.hpp"
#include "experiment/worker_runner.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "whole_number.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;
using namespace experiment;

struct RunCommand {
  fs::path config;
  bool dry_run = false;
  bool require = false;
  bool json = false;
  std::vector<std::string> overrides;
  fs::path output;
  std::int64_t repeats = 0;  // 0: not given
};

void print_summary(const Plan& plan, const Summary& summary, bool json) {
  if (json) {
    print_json(summary_json(summary, plan.output));
    return;
  }
  fmt::print("{}\nrecords: {}\nsummary: {}\n", summary_table(summary),
             (plan.output / "records.jsonl").string(), (plan.output / "summary.csv").string());
}

std::unique_ptr<TrialRunner> make_runner(const Plan& plan, DatasetCache& datasets,
                                         Observer& observer, const std::string& run,
                                         const Machine& machine) {
  if (plan.isolation.mode == IsolateMode::none) {
    return std::make_unique<InProcessRunner>(plan, datasets, observer, run, machine);
  }
  return std::make_unique<WorkerRunner>(plan, datasets, observer, run, machine);
}

int run_trials(const Plan& plan, DatasetCache& datasets, const Machine& machine, bool json) {
  make_folder(plan.output);
  RecordWriter writer(plan.output / "records.jsonl");
  if (!writer.note().empty()) note("lloyd: {}\n", writer.note());

  const std::string run = make_run_id();
  install_interrupt_handler();
  InterruptObserver observer;
  const auto runner = make_runner(plan, datasets, observer, run, machine);
  RunResult result;
  {
    Progress progress(plan, stderr, ::isatty(STDERR_FILENO) != 0);
    const auto describe = [&](const PlannedFit& fit) {
      return describe_unrun(plan, fit, run, machine);
    };
    result = run_plan(
        plan, *runner, describe, [&](const Record& record) { writer.append(record); }, interrupted,
        progress);
  }
  const Summary summary = summarize(result.records);
  print_summary(plan, summary, json);
  if (!result.error.empty()) throw Error(result.error);
  NewFile csv(plan.output / "summary.csv");
  csv.write(summary_csv(summary));
  csv.commit();
  if (result.cancelled) return kInterrupted;
  if (plan.trials() == 0) throw Error("nothing was run: every trial was skipped");
  return result.failed > 0 ? kFailed : kDone;
}

int run(const RunCommand& command, Registry registry) {
  Experiment experiment = load_experiment(command.config, command.overrides);
  if (command.repeats > 0) experiment.repeats = command.repeats;
  if (!command.output.empty()) experiment.output = command.output;

  const Machine machine = this_machine();
  DatasetCache datasets;
  const Plan plan = make_plan(
      experiment, [&](std::string_view name) { return registry.load(name); }, datasets, machine);
  for (const std::string& line : missing_backends(plan)) note("lloyd: {}\n", line);
  if (command.dry_run && command.json) print_json(plan_json(plan));
  if (command.dry_run && !command.json) fmt::print("{}", plan_text(plan));
  if (command.require) require_all(plan);
  return command.dry_run ? kDone : run_trials(plan, datasets, machine, command.json);
}

}  // namespace

void add_run_command(CLI::App& app, Context& context) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand("run", "Run an experiment: compare backends on data sets");
  sub->add_option("config", command->config, "The experiment's YAML file")->required();
  sub->add_flag("--dry-run", command->dry_run,
                "Print the plan: trials, memory, what will be skipped and why");
  sub->add_flag("--require", command->require, "Refuse to run when something would be skipped");
  sub->add_option("--set", command->overrides,
                  "Set a key or an axis, KEY=VALUE with VALUE in YAML, instead of the file's (may "
                  "be repeated)")
      ->allow_extra_args(false);
  sub->add_option("--output", command->output, "Folder for the records, instead of the file's");
  sub->add_option("--repeats", command->repeats, "Repeats of each trial, instead of the file's")
      ->check(whole_number(1, 100000));
  sub->add_flag("--json", command->json, "Print the plan or the summary as JSON");
  sub->callback([&context, command] {
    context.action = [&context, command] { return run(*command, context.registry()); };
  });
}

}  // namespace lloyd::apps
