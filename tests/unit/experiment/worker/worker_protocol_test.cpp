// Messages between `lloyd run` and its workers: round trips, and refusal of garbage.
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/worker/worker_protocol.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

// Has a value for every member.
TrialOutcome example_outcome() {
  TrialOutcome outcome;
  AfterOne& after_one = outcome.after_one.emplace();
  after_one.inertia = 0.1;
  after_one.labels.samples = 1000;
  after_one.labels.wrong = 3;
  after_one.labels.worst_ratio = 1.0 + 1e-15;
  after_one.digest = 0xffff'ffff'ffff'fff1u;
  Measurements& fit = outcome.fit.emplace();
  outcome.check_ms = 0.25;
  fit.iterations = 12;
  fit.stop_reason = "labels";
  fit.inertia = 1.0 / 3;
  fit.fit_ms = 3.25;
  fit.phases.update_ms = 1e-300;
  fit.sum_form = "integer64";
  fit.notes = "two-way \"split\"";
  fit.adjusted_rand_index = 2.0 / 3;
  fit.simplified_silhouette = 1.0 / 7;
  fit.silhouette_samples = 1000;
  fit.energy_j = 0.1;
  fit.counters = machine::CpuCounts{1, 2, 3, {}};
  outcome.process = TrialProcess{3, {{"libgomp", "/lib/libgomp.so.1", 2}}, 5};
  return outcome;
}

TEST(WorkerProtocol, MessagesComeBackAsTheyWere) {
  const auto start = parse_message(start_message(
      {"/a folder/lloyd_x.so", {{"threads", "2"}, {"layout", "soa"}}, {0, 1, 5}, {{"name", "x"}}}));
  EXPECT_EQ(message_kind(start), MessageKind::start);
  EXPECT_EQ(read_start_message(start).plugin, "/a folder/lloyd_x.so");
  EXPECT_EQ(read_start_message(start).parameters.at("layout"), "soa");
  EXPECT_EQ(read_start_message(start).identity, (BackendIdentity{{"name", "x"}}));
  EXPECT_EQ(read_start_message(start).cpus, (std::vector<int>{0, 1, 5}));
  EXPECT_TRUE(read_start_message(parse_message(start_message({"x", {}, {}, {}}))).cpus.empty());
  StartMessage timed{"x", {}, {}, {}};
  timed.begun += std::chrono::nanoseconds(1234567890123);
  EXPECT_EQ(read_start_message(parse_message(start_message(timed))).begun, timed.begun);

  TrialMessage message;
  message.options.clusters = 7;
  message.options.restarts = 3;
  message.options.max_iterations = 9;
  message.options.tolerance = 1.0 / 3;
  message.options.fixed_iterations = true;
  message.options.empty_clusters = EmptyClusters::keep;
  message.options.profile = true;
  message.probe = false;
  message.processor = 5;
  message.one_session = true;
  message.checks = {5000, 2.5};
  message.silhouette = true;
  message.cold_l2 = true;
  message.counters = true;
  message.checked_before = {*example_outcome().after_one};
  const auto trial = parse_message(trial_message(message));
  EXPECT_EQ(message_kind(trial), MessageKind::trial);
  const TrialMessage read = read_trial_message(trial);
  EXPECT_EQ(read.options.clusters, 7);
  EXPECT_EQ(read.options.restarts, 3);
  EXPECT_EQ(read.options.max_iterations, 9);
  EXPECT_EQ(read.options.tolerance, 1.0 / 3);
  EXPECT_TRUE(read.options.fixed_iterations);
  EXPECT_EQ(read.options.empty_clusters, EmptyClusters::keep);
  EXPECT_TRUE(read.options.profile);
  EXPECT_FALSE(read.probe);
  EXPECT_TRUE(read.check_result);
  EXPECT_EQ(read.processor, 5);
  EXPECT_TRUE(read.one_session);
  EXPECT_EQ(read.checks.samples, 5000);
  EXPECT_EQ(read.checks.seconds, 2.5);
  EXPECT_TRUE(read.silhouette);
  EXPECT_TRUE(read.cold_l2);
  EXPECT_TRUE(read.counters);
  ASSERT_EQ(read.checked_before.size(), 1u);
  EXPECT_EQ(read.checked_before.front().digest, example_outcome().after_one->digest);
  EXPECT_EQ(read.checked_before.front().labels.samples, 1000);
  EXPECT_EQ(read.checked_before.front().labels.wrong, 3);
  message.processor.reset();
  EXPECT_FALSE(read_trial_message(parse_message(trial_message(message))).processor.has_value());

  TraceMessage watched;
  watched.options = message.options;
  watched.restart = 2;
  watched.replay = true;
  watched.warm_up = false;
  const auto trace = parse_message(trace_message(watched));
  EXPECT_EQ(message_kind(trace), MessageKind::trace);
  EXPECT_EQ(read_trace_message(trace).options.clusters, 7);
  EXPECT_EQ(read_trace_message(trace).options.empty_clusters, EmptyClusters::keep);
  EXPECT_EQ(read_trace_message(trace).restart, 2);
  EXPECT_TRUE(read_trace_message(trace).replay);
  EXPECT_FALSE(read_trace_message(trace).warm_up);
  watched.restart = 3;
  EXPECT_THROW(read_trace_message(parse_message(trace_message(watched))), InputError)
      << "of 3 restarts";

  SeedMessage seed;
  seed.options.clusters = 7;
  seed.options.restarts = 3;
  seed.first_restart = 5;
  seed.options.seeding = {SeedingMethod::kmeans_parallel, 0xffff'ffff'ffff'fff0u, 1.0 / 3, 9};
  const auto seeding = parse_message(seed_message(seed));
  EXPECT_EQ(message_kind(seeding), MessageKind::seed);
  const SeedMessage read_seed = read_seed_message(seeding);
  EXPECT_EQ(read_seed.first_restart, 5);
  const FitOptions& seeded = read_seed.options;
  EXPECT_EQ(seeded.clusters, 7);
  EXPECT_EQ(seeded.restarts, 3);
  EXPECT_EQ(seeded.seeding.method, SeedingMethod::kmeans_parallel);
  EXPECT_EQ(seeded.seeding.seed, 0xffff'ffff'ffff'fff0u);
  EXPECT_EQ(seeded.seeding.oversampling, 1.0 / 3);
  EXPECT_EQ(seeded.seeding.rounds, 9);

  EXPECT_EQ(message_kind(parse_message(forget_message())), MessageKind::forget);
  EXPECT_EQ(message_kind(parse_message(finish_message())), MessageKind::finish);
  EXPECT_EQ(message_kind(parse_message(prepare_message())), MessageKind::prepare);
  const auto dataset = parse_message(dataset_message({{"rows", 3}}));
  EXPECT_EQ(message_kind(dataset), MessageKind::dataset);
  EXPECT_EQ(read_dataset_message(dataset).at("rows"), 3);
}

TEST(WorkerProtocol, AnswersComeBackAsTheyWere) {
  EXPECT_FALSE(read_answer(answer_done()).has_outcome);
  EXPECT_EQ(read_answer(answer_failure("it is \xff broken")).failure, "it is \xef\xbf\xbd broken");

  EXPECT_EQ(read_answer(answer_started(71.5)).start_ms, 71.5);
  EXPECT_TRUE(read_answer(answer_releasing()).releasing);
  EXPECT_FALSE(read_answer(answer_done()).releasing);
  EXPECT_TRUE(read_answer(answer_trace()).has_trace);
  EXPECT_FALSE(read_answer(answer_trace()).has_outcome);
  EXPECT_TRUE(read_answer(answer_cancelled()).cancelled);
  EXPECT_FALSE(read_answer(answer_cancelled()).has_trace);
  EXPECT_TRUE(read_answer(answer_seeds(2.5)).has_seeds);
  EXPECT_EQ(read_answer(answer_seeds(2.5)).seeding_ms, 2.5);
  EXPECT_TRUE(read_answer(answer_no_kernels()).no_kernels);
  EXPECT_FALSE(read_answer(answer_no_kernels()).has_seeds);
  EXPECT_EQ(read_answer(answer_done()).stage, "");
  const Answer report = read_answer(answer_progress("seeding", 340, 1000));
  EXPECT_EQ(report.stage, "seeding");
  EXPECT_EQ(report.done, 340);
  EXPECT_EQ(report.total, 1000);

  const Answer answer = read_answer(answer_outcome(example_outcome()));
  ASSERT_TRUE(answer.has_outcome);
  EXPECT_EQ(answer_outcome(answer.outcome), answer_outcome(example_outcome()));
  EXPECT_EQ(answer.outcome.after_one->labels.worst_ratio, 1.0 + 1e-15);
  EXPECT_EQ(answer.outcome.fit->inertia, 1.0 / 3);
  EXPECT_EQ(answer.outcome.fit->phases.update_ms, 1e-300);
  ASSERT_TRUE(answer.outcome.process);
  EXPECT_EQ(answer.outcome.process->threads, 3);
  EXPECT_EQ(answer.outcome.process->processor, 5);

  TrialOutcome cancelled;
  cancelled.cancelled = true;
  EXPECT_TRUE(read_answer(answer_outcome(cancelled)).outcome.cancelled);
  TrialOutcome failed = example_outcome();
  failed.failure = "the device is on fire";
  failed.probe_failed = true;
  failed.fit->inertia = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(read_answer(answer_outcome(failed)).outcome.probe_failed);
  EXPECT_EQ(answer_outcome(read_answer(answer_outcome(failed)).outcome), answer_outcome(failed));
}

TEST(WorkerProtocol, GarbageIsRefused) {
  const std::string whole = answer_outcome(example_outcome());
  std::vector<std::string> garbage = {"",
                                      " ",
                                      "null",
                                      "[]",
                                      "{",
                                      "{}",
                                      "done",
                                      std::string(1, '\0'),
                                      "\xff\xfe{}",
                                      R"({"answer": "ok"})",
                                      R"({"answer": 1})",
                                      R"({"answer": "failure"})",
                                      R"({"answer": "failure", "failure": ""})",
                                      R"({"answer": "outcome"})",
                                      whole + whole,
                                      std::string(100'000, '[')};
  for (std::size_t size = 0; size < whole.size(); ++size) garbage.push_back(whole.substr(0, size));
  TrialOutcome nothing;  // neither a fit nor a failure
  garbage.push_back(answer_outcome(nothing));
  for (const std::string& text : garbage) {
    EXPECT_THROW(read_answer(text), InputError) << text.substr(0, 100);
  }
  // Each value in turn gets a type that no field has.
  const auto json = nlohmann::ordered_json::parse(whole);
  for (const auto& [key, value] : json.items()) {
    auto changed = json;
    changed[key] = nlohmann::ordered_json::array();
    EXPECT_THROW(read_answer(changed.dump()), InputError) << key;
  }
  EXPECT_EQ(message_of<InputError>([] { message_kind(parse_message(R"({"message": "stop"})")); }),
            "unknown message 'stop'");
}

}  // namespace
}  // namespace lloyd::experiment
