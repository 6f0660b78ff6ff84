// The sequence of step calls that LloydLoop makes.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/lloyd_loop.hpp>
#include <lloyd/plugin/sdk/step.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// Logs its calls: F and E begin and end a fit, p begins a pass, a assigns a block, c assigns a
// block and reports changes.
struct LoggingStep : RowStep<LoggingStep, double> {
  explicit LoggingStep(const DatasetView& view) : RowStep(view, {}) {}

  void begin_fit(const StepFitOptions& options) {
    calls += options.profile ? "F(profile)" : "F";
    if (throws) throw StatusError(StatusCode::out_of_memory, "no memory for bounds");
  }
  void end_fit() { calls += 'E'; }
  void begin_pass(const double* values, std::int64_t count, const StepPassOptions& options) {
    RowStep::begin_pass(values, count, options);
    reports = options.reports_changes;
    calls += 'p';
  }
  std::int32_t label(const double* x) const {
    return nearest_centroid(x, centroids, clusters, dataset.features).label + label_offset;
  }
  std::int64_t assign(RowRange block, std::int32_t* labels) {
    EXPECT_FALSE(reports);
    calls += 'a';
    const std::int64_t changed = RowStep::assign(block, labels);
    return hides_changes ? 0 : changed;
  }
  std::int64_t assign(RowRange block, std::int32_t* labels, LabelChangeSums<double>& changes) {
    EXPECT_TRUE(reports);
    calls += 'c';
    const std::vector<std::int32_t> former(labels, labels + block.size());
    const std::int64_t changed = RowStep::assign(block, labels);
    if (hides_changes) return 0;
    for (std::int64_t i = 0; i < block.size(); ++i) {
      const std::int32_t from = former[static_cast<std::size_t>(i)];
      if (labels[i] != from) changes.add(block.begin + i, from, labels[i]);
    }
    return changed;
  }

  std::string calls;
  bool reports = false;
  bool throws = false;
  bool hides_changes = false;
  std::int32_t label_offset = 0;
};
static_assert(Step<LoggingStep> && ReportsLabelChanges<LoggingStep>);

struct Refusing : Observer {
  bool on_iteration(const IterationRecord& record) noexcept override {
    return record.iteration < 2;
  }
  bool stop_requested() const noexcept override { return false; }
};

class StepCalls : public testing::Test {
 protected:
  StepCalls() {
    spec.clusters = 2;
    spec.initial_centroids = start.data();
    spec.max_iterations = 3;
    spec.stop_rule = StopRule::fixed;
  }
  std::string fit(Observer* observer = nullptr) {
    step.calls.clear();
    FitResult result;
    try {
      loop.fit(spec, observer, result);
    } catch (const StatusError&) {
    }
    return step.calls;
  }
  // Begins passes with two clusters, and returns the request of one from `start`.
  PassRequest begin_passes() {
    PassOptions options;
    options.clusters = 2;
    loop.begin_passes(options);
    PassRequest pass;
    pass.centroids = start.data();
    pass.counts = counts.data();
    return pass;
  }

  const Dataset data{"samples", Matrix::from_values(std::vector<double>{0, 1, 2, 20, 21}, 5, 1)};
  const std::vector<double> start{0, 21};
  std::array<std::int64_t, 2> counts{};
  LoggingStep step{data.view()};
  LloydLoop<LoggingStep> loop{step, data.view()};
  FitSpec spec;
};

TEST_F(StepCalls, OfAFitComeBetweenBeginFitAndEndFit) {
  EXPECT_EQ(fit(), "FpcpcpcpaE");
  EXPECT_EQ(fit(), "FpcpcpcpaE");
  spec.profile = 1;  // sums take a separate pass
  EXPECT_EQ(fit(), "F(profile)papapapaE");
}

TEST_F(StepCalls, EndAFitThatIsCancelledOrFails) {
  Refusing observer;
  spec.observe = kObserveIterations;
  EXPECT_EQ(fit(&observer), "FpcpcE");
  step.throws = true;
  EXPECT_EQ(fit(), "FE");
}

TEST_F(StepCalls, OfOtherRequestsAreOnePass) {
  fit();
  step.calls.clear();
  LabelRequest request;
  request.centroids = start.data();
  request.clusters = 2;
  LabelResult labels;
  loop.label(request, nullptr, labels);
  EXPECT_EQ(step.calls, "pa");
  step.calls.clear();
  PartialRequest part;
  part.centroids = start.data();
  part.clusters = 2;
  part.rows = {1, 4};
  PartialResult sums;
  loop.partial(part, nullptr, sums);
  EXPECT_EQ(step.calls, "pa");
}

template <class Call>
StatusCode code_of(const Call& call) {
  try {
    call();
    return StatusCode::ok;
  } catch (const StatusError& error) {
    return error.status().code;
  }
}

// As an index, such a label would corrupt memory.
TEST_F(StepCalls, ReturnNoLabelOutsideOfTheClusters) {
  LabelRequest request;
  request.centroids = start.data();
  request.clusters = 2;
  PartialRequest part;
  part.centroids = start.data();
  part.clusters = 2;
  part.rows = {1, 4};
  for (const std::int32_t offset : {0, 2, -3}) {
    step.label_offset = offset;
    const StatusCode expected = offset == 0 ? StatusCode::ok : StatusCode::internal;
    for (const std::int32_t profile : {0, 1}) {
      spec.profile = profile;
      FitResult result;
      EXPECT_EQ(code_of([&] { loop.fit(spec, nullptr, result); }), expected) << offset;
    }
    LabelResult labels;
    EXPECT_EQ(code_of([&] { loop.label(request, nullptr, labels); }), expected) << offset;
    PartialResult sums;
    EXPECT_EQ(code_of([&] { loop.partial(part, nullptr, sums); }), expected) << offset;
    const PassRequest pass = begin_passes();
    PassResult passed;
    EXPECT_EQ(code_of([&] { loop.pass(pass, nullptr, passed); }), expected) << offset;
  }
}

// A fit in which the first pass changes no label would end after it.
TEST_F(StepCalls, ChangeAllLabelsInTheFirstPass) {
  const std::string fault =
      "the step's assign() reports 0 changed labels in the first pass of a fit; all 5 are new";
  const auto error_of_fit = [&] {
    FitResult result;
    return message_of<StatusError>([&] { loop.fit(spec, nullptr, result); });
  };
  const auto error_of_passes = [&] {
    const PassRequest pass = begin_passes();
    PassResult passed;
    return message_of<StatusError>([&] {
      loop.pass(pass, nullptr, passed);
      step.hides_changes = false;
      loop.pass(pass, nullptr, passed);  // no label changes
      EXPECT_EQ(passed.changed, 0);
    });
  };
  spec.stop_rule = StopRule::converge;
  for (const std::int32_t profile : {0, 1}) {
    spec.profile = profile;
    step.hides_changes = true;
    EXPECT_EQ(error_of_fit(), fault);
    step.hides_changes = false;
    EXPECT_EQ(error_of_fit(), "(nothing was thrown)");
  }
  step.hides_changes = true;
  EXPECT_EQ(error_of_passes(), fault);
  step.hides_changes = false;
  EXPECT_EQ(error_of_passes(), "(nothing was thrown)");
}

// Writes the labels of all passes, but reports no change from the second one on.
struct HidingStep : RowStep<HidingStep, double> {
  explicit HidingStep(const DatasetView& view) : RowStep(view, {}) {}
  std::int32_t label(const double* x) const {
    return nearest_centroid(x, centroids, clusters, dataset.features).label;
  }
  std::int64_t assign(RowRange block, std::int32_t* labels) {
    const std::int64_t changed = RowStep::assign(block, labels);
    return changed == block.size() ? changed : 0;
  }
};
static_assert(Step<HidingStep> && !ReportsLabelChanges<HidingStep>);

// The same for a step that reports which labels change.
struct HidingChanges : HidingStep {
  using HidingStep::assign;
  using HidingStep::HidingStep;
  std::int64_t assign(RowRange block, std::int32_t* labels, LabelChangeSums<double>& changes) {
    const std::int64_t changed = assign(block, labels);
    if (changed > 0) changes.add(block, labels);
    return changed;
  }
};
static_assert(Step<HidingChanges> && ReportsLabelChanges<HidingChanges>);

template <class S>
std::string error_of_fit(std::int32_t profile, double scale) {
  const Dataset data{"samples",
                     Matrix::from_values(std::vector<double>{0, 1, 2, 9, 20 * scale, 21}, 6, 1)};
  const std::vector<double> start{0, 1};
  S step{data.view()};
  LloydLoop<S> loop{step, data.view()};
  FitSpec spec;
  spec.clusters = 2;
  spec.initial_centroids = start.data();
  spec.max_iterations = 10;
  spec.profile = profile;
  FitResult result;
  return message_of<StatusError>([&] { loop.fit(spec, nullptr, result); });
}

// With 0 changed labels a fit ends, here after its second iteration of more.
TEST(ChangedLabels, AreComparedWithTheSumsWhenAFitEnds) {
  for (const double scale : {1.0, 1e100}) {  // integer and compensated sums
    for (const std::int32_t profile : {0, 1}) {
      EXPECT_EQ(error_of_fit<HidingStep>(profile, scale),
                "0 changed labels are reported in iteration 2, but the mean of cluster 0 is not "
                "that of the iteration before; the number of changed labels is wrong");
    }
  }
  EXPECT_EQ(error_of_fit<HidingChanges>(0, 1),
            "the step's assign() reports 0 changed labels, but gives cluster 0 3 samples, where "
            "its sums have 1; it must report each changed label");
}

// Hands out the given blocks, to the given worker.
struct GivenBlocks : RowStep<GivenBlocks, double> {
  explicit GivenBlocks(const DatasetView& view) : RowStep(view, {}) {}
  std::int32_t label(const double* x) const {
    return nearest_centroid(x, centroids, clusters, dataset.features).label;
  }
  int workers() const { return worker_count; }
  template <class Body>
  void for_each_block(RowRange, Body&& body) const {
    for (const RowRange block : blocks) body(worker, block);
  }

  int worker_count = 2;
  int worker = 0;
  std::vector<RowRange> blocks{{0, 3}, {2, 2}, {3, 5}};
};
static_assert(Step<GivenBlocks>);

class StepBlocks : public testing::Test {
 protected:
  // The errors of a fit and of a labelling, which must be the same.
  static std::string error_of(const std::function<void(GivenBlocks&)>& change) {
    const Dataset data{"samples", Matrix::from_values(std::vector<double>{0, 1, 2, 20, 21}, 5, 1)};
    const std::vector<double> start{0, 21};
    GivenBlocks step{data.view()};
    change(step);
    LloydLoop<GivenBlocks> loop{step, data.view()};
    FitSpec spec;
    spec.clusters = 2;
    spec.initial_centroids = start.data();
    spec.max_iterations = 3;
    FitResult result;
    std::string message = message_of<StatusError>([&] { loop.fit(spec, nullptr, result); });
    LabelRequest request;
    request.centroids = start.data();
    request.clusters = 2;
    LabelResult labels;
    EXPECT_EQ(message_of<StatusError>([&] { loop.label(request, nullptr, labels); }), message);
    return message;
  }
};

// A worker and a row are indices too.
TEST_F(StepBlocks, AreCheckedBeforeTheyAreUsed) {
  EXPECT_EQ(error_of([](GivenBlocks&) {}), "(nothing was thrown)");
  EXPECT_EQ(error_of([](GivenBlocks& step) { step.worker = 2; }),
            "the step's for_each_block() calls its body with worker 2, but workers() returns 2; "
            "workers are counted from 0");
  EXPECT_EQ(error_of([](GivenBlocks& step) { step.worker = -1; }),
            "the step's for_each_block() calls its body with worker -1, but workers() returns 2; "
            "workers are counted from 0");
  EXPECT_EQ(error_of([](GivenBlocks& step) {
              step.blocks[2] = {3, 8};
            }),
            "the step's for_each_block() calls its body with the block [3, 8), which is not within "
            "its rows [0, 5)");
  EXPECT_EQ(error_of([](GivenBlocks& step) {
              step.blocks[0] = {-1, 3};
            }),
            "the step's for_each_block() calls its body with the block [-1, 3), which is not "
            "within its rows [0, 5)");
  EXPECT_EQ(error_of([](GivenBlocks& step) {
              step.blocks[0] = {3, 0};
            }),
            "the step's for_each_block() calls its body with the block [3, 0), which is not within "
            "its rows [0, 5)");
}

TEST_F(StepBlocks, HaveEachRowOnce) {
  EXPECT_EQ(error_of([](GivenBlocks& step) { step.blocks.pop_back(); }),
            "the blocks of the step's for_each_block() have 3 rows in total; each of its 5 rows "
            "must be in one block");
  EXPECT_EQ(error_of([](GivenBlocks& step) {
              step.blocks[0] = {0, 5};
            }),
            "the blocks of the step's for_each_block() have 7 rows in total; each of its 5 rows "
            "must be in one block");
}

TEST_F(StepBlocks, NeedAWorker) {
  for (const int count : {0, -3}) {
    EXPECT_EQ(error_of([&](GivenBlocks& step) { step.worker_count = count; }),
              "the step's workers() returns " + std::to_string(count) + "; it must be at least 1");
  }
}

}  // namespace
}  // namespace lloyd
