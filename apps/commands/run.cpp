// lloyd run: runs an experiment.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "commands/commands.hpp"
#include "experiment/record/record_reader.hpp"
#include "experiment/record/record_writer.hpp"
#include "experiment/run/monitored_runner.hpp"
#include "experiment/run/resume.hpp"
#include "experiment/run/run_plan.hpp"
#include "experiment/run/tracing_runner.hpp"
#include "experiment/summary/plan_text.hpp"
#include "experiment/summary/summary.hpp"
#include "experiment/worker/worker_runner.hpp"
#include "external/backend.hpp"
#include "fit/ranks/launched_command.hpp"
#include "output/delivery.hpp"
#include "output/messages.hpp"
#include "output/output.hpp"
#include "output/terminal.hpp"
#include "progress/step_progress.hpp"
#include "seeding/seeding_backends.hpp"
#include "supervision/guest_scope.hpp"
#include "supervision/interrupt.hpp"
#include "supervision/supervision.hpp"
#include "text/numbers.hpp"
#include "text/whole_number.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;
using namespace experiment;

struct RunCommand {
  fs::path config;
  bool dry_run = false;
  bool require = false;
  bool fail_if_skipped = false;
  bool json = false;
  bool resume = false;
  bool retry_failed = false;
  Overrides overrides;
  fs::path output;
  std::int64_t repeats = 0;  // 0: not given
};

// The files of a run's folder, as absolute paths.
struct RunFiles {
  fs::path records;
  fs::path summary;
};

RunFiles files_of(const fs::path& folder) {
  const fs::path place = absolute_path(folder);
  return {place / "records.jsonl", place / "summary.csv"};
}

// Throws InputError if an input of the experiment is one of its outputs.
void check_inputs(const RunFiles& files, const fs::path& config, const Experiment& experiment) {
  std::vector<fs::path> inputs = {config};
  for (const Setting& setting : experiment.settings) {
    inputs.push_back(setting.dataset.file);
    inputs.emplace_back(setting.options.seeding.file);
  }
  for (const BackendRequest& backend : experiment.backends) inputs.push_back(backend.program);
  refuse_overwriting({files.records, files.summary}, inputs);
}

// If another program has changed the records' file, writes the run's records to another place too.
void rescue_records(Delivery& delivery, const fs::path& records, RecordWriter& writer,
                    const std::vector<std::vector<Record>>& fits) {
  if (writer.interference().empty()) return;
  delivery.write(records, [&](const fs::path& file) {
    if (file == records) throw Error(writer.interference());
    NewFile copy(file);
    for (const std::vector<Record>& fit : fits) {
      for (const Record& record : fit) copy.write(record_line(record));
    }
    copy.commit();
  });
}

// Prints the summary and, if it is complete, writes it to a file.
void deliver_summary(Delivery& delivery, const Plan& plan, const RunFiles& files,
                     const Summary& summary, bool json, bool complete) {
  delivery.print([&] {
    if (json) {
      print_json(summary_json(summary, plan.output));
    } else {
      print_text("{}\nrecords: {}\n", summary_table(summary, result_width()),
                 (plan.output / "records.jsonl").string());
    }
  });
  const auto write = [&](const fs::path& file) {
    NewFile csv(file);
    csv.write(summary_csv(summary));
    csv.commit();
  };
  if (complete && delivery.write(files.summary, write) && !json) {
    delivery.print([&] { print_text("summary: {}\n", (plan.output / "summary.csv").string()); });
  }
}

std::unique_ptr<SharedStartRunner> make_runner(const Plan& plan, DatasetCache& datasets,
                                               Observer& observer, const std::string& run,
                                               const Machine& machine,
                                               std::chrono::seconds plugin_limit) {
  if (plan.isolation.mode == IsolateMode::none) {
    return std::make_unique<InProcessRunner>(plan, datasets, observer, run, machine);
  }
  return std::make_unique<WorkerRunner>(plan, datasets, observer, run, machine,
                                        std::vector<std::string>(), plugin_limit);
}

// A new or resumed run.
struct Run {
  std::string id = make_run_id();
  EarlierTrials earlier;
};

// Existing records are opened, and thereby locked, before planning, so that a concurrent run fails
// at once.
std::unique_ptr<RecordWriter> open_records(const fs::path& file) {
  auto writer = std::make_unique<RecordWriter>(file);
  if (!writer->note().empty()) note("lloyd: {}\n", writer->note());
  return writer;
}

// The last run of the plan's experiment in the records; none if there are no records.
std::optional<LastRun> last_run(const Plan& plan, const fs::path& file, const Machine& machine,
                                ExtendedRepeats extended) {
  std::error_code error;
  if (fs::file_size(file, error) == 0 || error) return std::nullopt;
  return find_last_run(read_records(file).runs, plan, machine, extended);
}

void set_repeats(Plan& plan, std::int64_t repeats) {
  plan.repeats = repeats;
  plan.hash = hash_with_repeats(plan, repeats);
}

// "; 2 trials failed or timed out ..." if the run has such trials.
std::string note_on_failures(const EarlierTrials& earlier) {
  const std::int64_t failed = failed_trials(earlier);
  if (failed == 0) return {};
  return fmt::format("; {} failed or timed out, and --retry-failed runs {} again",
                     format_count(failed, "trial"), failed == 1 ? "it" : "them");
}

// Sets the plan's repeats to those of the run, if it was extended to more than the file has.
Run resumed_run(Plan& plan, const fs::path& file, const Machine& machine,
                const RunCommand& command) {
  const ExtendedRepeats extended =
      command.repeats > 0 ? ExtendedRepeats::refuse : ExtendedRepeats::keep;
  std::optional<LastRun> last = last_run(plan, file, machine, extended);
  const std::string folder = plan.output.string();
  if (!last) {
    note("lloyd: {} has no run of '{}' to resume; starting a new one\n", folder, plan.experiment);
    return {};
  }
  if (!last->difference.empty()) {
    const std::string longer = last->repeats > plan.repeats
                                   ? fmt::format("--repeats {} resumes it, and ", last->repeats)
                                   : std::string();
    throw InputError(fmt::format(
        "the run {} in {} cannot be resumed, as {}; {}without --resume a new run begins", last->id,
        folder, last->difference, longer));
  }
  std::string extension;
  if (last->repeats > plan.repeats) {
    extension = fmt::format(", extended to {}", format_count(last->repeats, "repeat"));
    set_repeats(plan, last->repeats);
  }
  Run run{last->id, earlier_trials(std::move(last->records), command.retry_failed)};
  const std::int64_t left = trials_left(plan, run.earlier);
  const std::string failed = command.retry_failed ? "" : note_on_failures(run.earlier);
  if (left == 0) {
    note("lloyd: the run {} in {}{} is complete: nothing is left to do{}\n", run.id, folder,
         extension.empty() ? "" : extension + ",", failed);
  } else {
    note("lloyd: resuming the run {} in {}{}: {} of {} left{}\n", run.id, folder, extension, left,
         format_count(plan.trials(), "trial"), failed);
  }
  return run;
}

// Notes that the new run leaves an earlier one unfinished that could be resumed.
void note_unfinished(Plan plan, const fs::path& file, const Machine& machine) {
  try {
    std::optional<LastRun> last = last_run(plan, file, machine, ExtendedRepeats::keep);
    if (!last || !last->difference.empty()) return;
    plan.repeats = last->repeats;
    const std::int64_t left = trials_left(plan, earlier_trials(std::move(last->records), false));
    if (left == 0) return;
    note(
        "lloyd: starting a new run; the run {} in {} has {} of {} left, which --resume would run\n",
        last->id, plan.output.string(), left, format_count(plan.trials(), "trial"));
  } catch (const InputError& error) {
    // Unreadable records of earlier runs do not prevent a new run.
    note(
        "lloyd: warning: {}: 'report' and '--resume' cannot read this file, and the new records "
        "go there; --output gives another folder\n",
        error.what());
  }
}

// `fail_if_skipped`: return kSkipped if trials were skipped.
int status_of(const Plan& plan, const RunResult& result, bool fail_if_skipped) {
  if (!result.error.empty()) return kFailed;
  if (result.cancelled) return kInterrupted;
  if (result.failed > 0 || plan.trials() == 0) return kFailed;
  const auto is_skipped = [](const std::vector<Record>& fit) {
    return std::any_of(fit.begin(), fit.end(),
                       [](const Record& record) { return record.status == TrialStatus::skipped; });
  };
  const bool skipped = std::any_of(result.records.begin(), result.records.end(), is_skipped);
  return fail_if_skipped && skipped ? kSkipped : kDone;
}

int run_trials(const Plan& plan, DatasetCache& datasets, const Machine& machine, Run run,
               const RunFiles& files, RecordWriter& writer, const RunCommand& command,
               const Context& context, std::chrono::steady_clock::time_point begin) {
  install_interrupt_handler();
  InterruptObserver observer;
  const auto trials =
      make_runner(plan, datasets, observer, run.id, machine, context.plugin_limit());
  if (plan.isolation.mode != IsolateMode::none) {
    trials->seed_also_with([&context] { return available_seeding_backends(context); });
  }
  trials->expect_trials_of(variants_left(plan, run.earlier));
  MonitoredRunner runner(plan, *trials, [] { return pause_for_cooling(interrupted); });
  RunResult result;
  {
    Progress progress(plan, write_message, messages_go_to_terminal());
    const auto describe = [&](const PlannedFit& fit) {
      return describe_unrun(plan, fit, run.id, machine);
    };
    TracingRunner tracing(plan, runner, *trials,
                          [&](const std::string& text) { progress.note(text); });
    trials->report_stages_to([&](std::string_view stage, std::int64_t done, std::int64_t total) {
      progress.stage(stage, done, total);
    });
    result = run_plan(
        plan, tracing, describe, [&](const Record& record) { writer.append(record); }, interrupted,
        progress, std::move(run.earlier));
    trials->report_stages_to({});
  }
  const Summary summary = summarize(result.records);
  RunTimes times = trials->times();
  times.total =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  Delivery delivery;
  {
    // In case the summary's path has become a link to the records.
    const ProtectedFile records(files.records);
    deliver_summary(delivery, plan, files, summary, command.json, result.error.empty());
  }
  note("{}\n", times_text(times));
  rescue_records(delivery, files.records, writer, result.records);
  delivery.finish();
  // Before finish(): releasing a plugin in this process may crash or hang it.
  report_end(status_of(plan, result, command.fail_if_skipped));
  trials->finish([](const std::string& text) { note("lloyd: {}\n", text); });
  if (!result.error.empty()) throw Error(result.error);
  if (result.cancelled) {
    note("lloyd: interrupted; the same command with --resume runs the remaining trials\n");
  } else if (plan.trials() == 0 && result.failed == 0) {
    throw Error("nothing was run: every trial was skipped");
  }
  return status_of(plan, result, command.fail_if_skipped);
}

// `isolation: none`: replaces the backends of the variants by plugins loaded into this process.
void load_into_this_process(std::vector<Variant>& variants, std::chrono::seconds limit) {
  std::map<fs::path, std::shared_ptr<const LoadedBackend>> loaded;
  for (Variant& variant : variants) {
    if (variant.backend == nullptr) continue;
    if (external::is_program(variant.backend->path())) {
      external::set_close_limit(*variant.backend, limit);
      continue;
    }
    std::shared_ptr<const LoadedBackend>& backend = loaded[variant.backend->path()];
    if (backend == nullptr) backend = load_supervised(variant.backend->path());
    check_same(identity_of(*variant.backend), identity_of(*backend));
    ParameterSet parameters = backend->default_parameters();
    for (const auto& [name, text] : variant.parameters.texts()) parameters.set(name, text);
    variant.parameters = std::move(parameters);
    variant.backend = backend;
  }
}

int run(const RunCommand& command, const Context& context) {
  if (!is_only_process(context, "lloyd run",
                       "it starts the processes of each trial itself, as many as 'ranks' says in "
                       "the experiment, with the program that 'launcher' names")) {
    return kDone;
  }
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  Experiment experiment = load_experiment(command.config, command.overrides, command.output);
  if (command.repeats > 0) experiment.repeats = command.repeats;

  const bool in_process = experiment.isolation.mode == IsolateMode::none && !command.dry_run;
  const RunFiles files = files_of(experiment.output);
  check_inputs(files, command.config, experiment);
  // After check_inputs(), which may redirect messages.
  if (in_process) supervise(context.plugin_limit(), Scratch::own);
  std::unique_ptr<RecordWriter> writer;
  std::error_code error;
  if (!command.dry_run && fs::exists(files.records, error)) writer = open_records(files.records);
  const Machine machine = this_machine();
  DatasetCache datasets(interrupted);
  isolated::IsolatedPlugins plugins(context.plugin_limit(),
                                    isolated::IsolatedPlugins::Use::questions);
  Registry registry = context.registry(plugins);
  Plan plan = [&] {
    StepProgress progress("planning", "pairs of setting and backend");
    return make_plan(
        experiment, [&](std::string_view name) { return registry.load(name); }, datasets, machine,
        [&](std::int64_t done, std::int64_t total) { progress.update(done, total); },
        Registry::default_folders(context.plugin_folders));
  }();
  plugins.finish();
  for (const std::string& line : missing_backends(plan)) note("lloyd: {}\n", line);
  if (command.dry_run && command.json) print_json(plan_json(plan));
  if (command.dry_run && !command.json) print_text("{}", plan_text(plan, result_width()));
  if (command.require) require_all(plan);
  if (command.dry_run) return kDone;
  if (in_process) load_into_this_process(plan.variants, context.plugin_limit());
  if (writer == nullptr) {
    make_folder(files.records.parent_path());
    writer = open_records(files.records);
  }
  try_outputs({files.summary});
  Run run;
  if (command.resume) {
    run = resumed_run(plan, files.records, machine, command);
  } else {
    note_unfinished(plan, files.records, machine);
  }
  return run_trials(plan, datasets, machine, std::move(run), files, *writer, command, context,
                    begin);
}

}  // namespace

void add_run_command(CLI::App& app, Context& context) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand("run", "Run an experiment: compare backends on data sets");
  sub->add_option("CONFIG", command->config, "The experiment's YAML file")->required();
  sub->add_flag("--dry-run", command->dry_run,
                "Print the plan (trials, memory, skipped trials with reasons) and run nothing");
  sub->add_flag("--require", command->require, "Fail if any trial would be skipped");
  sub->add_flag("--fail-if-skipped", command->fail_if_skipped,
                "Exit with status 3 if trials were skipped and none failed");
  sub->add_option("--set", command->overrides.set,
                  "Override a key or an axis of the file: KEY=VALUE, with VALUE in YAML; KEY= "
                  "removes the key (may be repeated)")
      ->allow_extra_args(false);
  sub->add_option("--sweep", command->overrides.sweep,
                  "Add an axis or replace its values: KEY=LIST, such as 'clusters=[8, 16]' (may be "
                  "repeated)")
      ->allow_extra_args(false);
  sub->add_option("--output", command->output, "Folder for the records (overrides the file)");
  sub->add_option("--repeats", command->repeats,
                  "Repeats of each setting and variant (overrides the file)")
      ->check(whole_number(1, 100000));
  sub->add_flag("--json", command->json, "Print the plan or the summary as JSON");
  auto* resume = sub->add_flag("--resume", command->resume,
                               "Finish the last run of this experiment in the output folder; with "
                               "more repeats, extend it");
  sub->add_flag("--retry-failed", command->retry_failed,
                "With --resume: also rerun trials that failed or timed out")
      ->needs(resume);
  resume->excludes("--dry-run");
  sub->callback([&context, command] {
    context.action = [&context, command] { return run(*command, context); };
  });
}

}  // namespace lloyd::apps
