// The conformance suite must fail bad backends.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/registry.hpp>

#include "bad_plugins/support/misbehaving.hpp"
#include "conformance/conformance.hpp"
#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd {
namespace {

using bad::MisbehavingBackend;
using bad::Misbehaviour;
using conformance::Outcome;
using conformance::Report;

Report run_misbehaving(Misbehaviour how, const std::string& glob = "*",
                       std::uint64_t features = fake::kInfo.capabilities) {
  BackendInfo info = fake::kInfo;
  info.capabilities = features;
  const LoadedBackend backend(
      "fake", make_plugin_header("misbehaving", "1"),
      new MisbehavingBackend(std::move(how), new StepBackend<fake::FakeStep, fake::kInfo>, info),
      std::vector<DeviceInfo>(1), "");
  conformance::Options options;
  options.glob = glob;
  return conformance::run(backend, options);
}

// The message of the first failed result whose name contains `name`.
std::string failure(const Report& report, const std::string& name) {
  for (const conformance::Result& result : report.results) {
    if (result.outcome == Outcome::failed && result.name.find(name) != std::string::npos) {
      return result.message;
    }
  }
  return "no failure of " + name;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

template <class T>
class RefusingStep : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static Status supports(const ProblemShape&, const ParameterList&, const FitSpec&) {
    return Status::error(StatusCode::unsupported, "at most 0 samples");
  }
};

TEST(Conformance, PassesWhatIsRight) {
  EXPECT_TRUE(run_misbehaving({}, "stop/*").verified());
  EXPECT_TRUE(run_misbehaving({}, "partial/*").verified());
}

TEST(Conformance, ARefusalOfEverythingIsAFailure) {
  const Report report = conformance::run(*fake::make<RefusingStep>("refusing"));
  EXPECT_FALSE(report.verified());
  for (const char* name : {"lattice/one-iteration", "invariants/separated", "whole-fit/separated",
                           "stop/closing-assignment"}) {
    expect_part(failure(report, name), "skipped in every variant, so nothing was verified: ");
    expect_part(failure(report, name), "at most 0 samples");
  }
}

// Each refuses fits that backends may refuse, some without a number in the reason.
template <class T>
class FewSamplesStep : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static Status supports(const ProblemShape& shape, const ParameterList&, const FitSpec&) {
    if (shape.samples >= 16) return {};
    return Status::error(StatusCode::unsupported, "at least 16 samples");
  }
};
template <class T>
class NoToleranceStep : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static Status supports(const ProblemShape&, const ParameterList&, const FitSpec& spec) {
    if (spec.tolerance == 0) return {};
    return Status::error(StatusCode::unsupported, "no tolerance");
  }
};
template <class T>
class KeepingStep : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static Status supports(const ProblemShape&, const ParameterList&, const FitSpec& spec) {
    if (spec.empty_clusters == EmptyClusters::keep) return {};
    return Status::error(StatusCode::unsupported, "empty clusters are kept");
  }
};

// The skipped results; none may fail.
std::vector<std::string> skipped_of(const LoadedBackend& backend) {
  std::vector<std::string> skipped;
  conformance::Options options;
  options.glob =
      "lattice/*,invariants/separated,whole-fit/separated,edge/*,bisector/ties,stop/*,empty/*,"
      "observe/*,session/*,partial/relocation,limits/supports,limits/estimate-many*,refusals/*";
  const Report report = conformance::run(backend, options);
  for (const conformance::Result& result : report.results) {
    EXPECT_NE(result.outcome, Outcome::failed) << result.name << ": " << result.message;
    if (result.outcome == Outcome::skipped) skipped.push_back(result.name);
  }
  return skipped;
}

TEST(Conformance, ACorrectRefusalSkipsOnlyTheCasesThatNeedWhatIsRefused) {
  const std::vector<std::string> without = skipped_of(*fake::make<fake::FakeStep>("fake"));
  const auto expect_skipped = [&](const std::shared_ptr<const LoadedBackend>& backend,
                                  const std::vector<std::string>& globs) {
    for (const std::string& name : skipped_of(*backend)) {
      const bool expected = std::find(without.begin(), without.end(), name) != without.end() ||
                            std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
                              return name.starts_with(glob);
                            });
      EXPECT_TRUE(expected) << backend->name() << ": " << name;
    }
  };
  // Their data have a handful of samples.
  expect_skipped(fake::make<FewSamplesStep>("few-samples"), {"stop/", "empty/", "edge/one-sample"});
  expect_skipped(fake::make<NoToleranceStep>("no-tolerance"), {"stop/"});
  expect_skipped(
      fake::make<KeepingStep>("keeping"),
      {"empty/relocate", "empty/error", "stop/relocation-goes-on", "partial/relocation"});
}

constexpr ParameterInfo kTableParameters[] = {
    integer_parameter("table", 1, 1, 4096, "KiB of a table")};
constexpr BackendInfo kTableInfo = [] {
  BackendInfo info = fake::kInfo;
  info.set_parameters(kTableParameters);
  return info;
}();

// Forgets a parameter in the estimate.
template <class T>
class TableStep : public fake::FakeStep<T> {
 public:
  TableStep(const DatasetView& dataset, const ParameterList& parameters)
      : fake::FakeStep<T>(dataset, parameters),
        table_(static_cast<std::size_t>(1024 * parameters.integer("table"))) {}

 private:
  std::vector<char> table_;
};

TEST(Conformance, AnEstimateMustHoldAtTheEndsOfParameters) {
  const LoadedBackend backend("fake", make_plugin_header("table", "1"),
                              new StepBackend<TableStep, kTableInfo>, std::vector<DeviceInfo>(1),
                              "");
  conformance::Options options;
  options.glob = "limits/estimate-parameters";
  const Report report = conformance::run(backend, options);
  if (report.skipped > 0) GTEST_SKIP() << "sanitizers replace the heap";
  EXPECT_EQ(report.failed, 1);
  EXPECT_TRUE(failure(report, "limits/estimate-parameters").starts_with("table=4096: "))
      << failure(report, "limits/estimate-parameters");
}

template <class T>
class ThrowingSupportsStep : public fake::FakeStep<T> {
 public:
  using fake::FakeStep<T>::FakeStep;
  static Status supports(const ProblemShape& shape, const ParameterList&, const FitSpec&) {
    if (shape.clusters > 2) throw std::runtime_error("no table of devices");
    return {};
  }
};

// Cases of other sizes pass, so that a skipped one would go unnoticed.
TEST(Conformance, AFailureOfSupportsIsNoRefusal) {
  const auto backend = fake::make<ThrowingSupportsStep>("throwing");
  conformance::Options options;
  options.glob = "invariants/separated/float32";
  const Report report = conformance::run(*backend, options);
  EXPECT_EQ(report.failed, 1);
  const std::string message = failure(report, "invariants/separated");
  EXPECT_TRUE(message.starts_with("supports() for n=")) << message;
  expect_part(
      message,
      "failed with status 'internal': the step's supports() threw an exception: no table of "
      "devices");
}

TEST(Conformance, ReportsTheParametersThatACaseVaries) {
  const auto backend = fake::make<fake::FakeStep>("fake");
  const auto settings = [&](const std::string& glob) {
    const conformance::Suite suite(*backend, glob);
    EXPECT_EQ(suite.plan().cases.size(), 1u);
    std::vector<std::string> reported;
    const auto report = [&](const std::string& setting) { reported.push_back(setting); };
    EXPECT_EQ(suite.run(0, report).outcome, Outcome::passed);
    return reported;
  };
  EXPECT_EQ(settings("limits/parameters/float32"),
            (std::vector<std::string>{"threads=0", "", "threads=1024", ""}));
  EXPECT_EQ(settings("stop/labels/float32"), std::vector<std::string>{});
}

// Stands for a data race: a wrong label once several workers have many blocks.
template <class T>
class RacingStep : public fake::FakeStep<T> {
 public:
  RacingStep(const DatasetView& dataset, const ParameterList& parameters)
      : fake::FakeStep<T>(dataset, parameters),
        workers_(static_cast<int>(parameters.integer("threads"))) {}
  static int estimate_workers(const ParameterList& parameters) {
    return static_cast<int>(parameters.integer("threads"));
  }
  int workers() const { return workers_; }

  template <class Body>
  void for_each_block(RowRange rows, Body&& body) {
    int number = 0;
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += StepBase::kBlockRows) {
      races_ = workers_ > 1 && ++number > 10;
      body(number % workers_, RowRange{begin, std::min(begin + StepBase::kBlockRows, rows.end)});
    }
  }
  std::int64_t assign(RowRange rows, std::int32_t* labels) {
    const std::int64_t changed = fake::FakeStep<T>::assign(rows, labels);
    if (races_ && rows.size() > 0) labels[0] = 0;
    return changed;
  }

 private:
  int workers_;
  bool races_ = false;
};

constexpr ParameterInfo kRacingParameters[] = {integer_parameter("threads", 1, 1, 64, "threads")};
constexpr BackendInfo kRacingInfo = [] {
  BackendInfo info = exact_step_info("a step with a race");
  info.set_parameters(kRacingParameters);
  return info;
}();

TEST(Conformance, WorkersThatShareMemoryFail) {
  const LoadedBackend backend("fake", make_plugin_header("racing", "1"),
                              new StepBackend<RacingStep, kRacingInfo>, std::vector<DeviceInfo>(1),
                              "");
  conformance::Options options;
  options.glob = "reproducibility/*";
  const Report report = conformance::run(backend, options);
  expect_part(failure(report, "reproducibility/threads"), "with threads=2");
  expect_part(failure(report, "reproducibility/threads"),
              "compile the plugin with -fsanitize=thread, then LD_PRELOAD=");
  expect_part(failure(report, "reproducibility/threads"), "--case 'reproducibility/*' --timeout ");
  EXPECT_EQ(failure(report, "reproducibility/parameters"),
            "no failure of reproducibility/parameters");
}

TEST(Conformance, AnUnavailableBackendIsNotVerified) {
  const auto backend = fake::make<fake::FakeStep>("absent", "there is no device");
  conformance::Options options;
  Report report = conformance::run(*backend, options);
  EXPECT_FALSE(report.verified());
  EXPECT_EQ(report.unavailable, "there is no device");
  ASSERT_EQ(report.results.size(), 1u);
  EXPECT_EQ(report.results[0].outcome, Outcome::skipped);
  options.require_available = true;
  report = conformance::run(*backend, options);
  EXPECT_FALSE(report.verified());
  EXPECT_EQ(failure(report, "available"), "there is no device");
}

TEST(Conformance, ABackendWithoutADataTypeFails) {
  const Report report = run_misbehaving({}, "*", kCapabilityHostMemory);
  EXPECT_FALSE(report.verified());
  EXPECT_GT(report.matched, 0);
  expect_part(failure(report, "data-types"), "supports no data type");
}

// Every case runs to its end, and those that check a fit fail.
TEST(Conformance, AFitThatDoesNothingFails) {
  Misbehaviour how;
  how.fit = [](Session&, const FitSpec&, Observer*, FitResult&) { return Status(); };
  const Report report = run_misbehaving(how);
  EXPECT_FALSE(report.verified());
  for (const char* name : {"lattice/", "invariants/", "whole-fit/", "edge/", "layout/", "range/",
                           "empty/", "stop/", "observe/", "cancel/", "session/"}) {
    EXPECT_NE(failure(report, name), std::string("no failure of ") + name);
  }
}

// Passes altered copies of the records on.
class AlteringObserver : public Observer {
 public:
  AlteringObserver(Observer* observer, void (*alter)(IterationRecord&))
      : observer_(observer), alter_(alter) {}
  bool on_iteration(const IterationRecord& record) noexcept override {
    IterationRecord altered = record;
    alter_(altered);
    return observer_->on_iteration(altered);
  }
  bool stop_requested() const noexcept override { return observer_->stop_requested(); }

 private:
  Observer* observer_;
  void (*alter_)(IterationRecord&);
};

// The suite does not check a fit again that has the bits of one that passed. Each of these differs.
TEST(Conformance, AFitThatDiffersFromOneThatPassedIsChecked) {
  const std::string glob = "invariants/separated";
  ASSERT_TRUE(run_misbehaving({}, glob).verified());
  using AlterResult = void (*)(FitResult&);
  const AlterResult results[] = {
      [](FitResult& result) { result.labels[7] ^= 1; },
      [](FitResult& result) { --result.counts[3]; },
      [](FitResult& result) { result.inertia *= 1.001; },
      [](FitResult& result) { result.centroids[5] += 1; },
      [](FitResult& result) { --result.iterations; },
      [](FitResult& result) { ++result.relocations; },
      [](FitResult& result) { result.stop_reason = StopReason::max_iterations; },
      [](FitResult& result) { result.valid &= ~kValidCounts; },
  };
  for (std::size_t at = 0; at < std::size(results); ++at) {
    Misbehaviour how;
    how.fit = [alter = results[at]](Session& session, const FitSpec& spec, Observer* observer,
                                    FitResult& result) {
      const Status status = session.fit(spec, observer, result);
      alter(result);
      return status;
    };
    EXPECT_FALSE(run_misbehaving(how, glob).verified()) << "result " << at;
  }
  using AlterRecord = void (*)(IterationRecord&);
  const AlterRecord records[] = {
      [](IterationRecord& record) { ++record.iteration; },
      [](IterationRecord& record) { ++record.changed; },
      [](IterationRecord& record) { ++record.relocations; },
      [](IterationRecord& record) { record.shift = record.shift * 1.001 + 1e-9; },
      [](IterationRecord& record) { record.inertia *= 1.001; },
      [](IterationRecord& record) {
        record.elapsed_ms = 1 / static_cast<double>(record.iteration);
      },
      [](IterationRecord& record) { record.labels = nullptr; },
      [](IterationRecord& record) { record.centroids = nullptr; },
  };
  for (std::size_t at = 0; at < std::size(records); ++at) {
    Misbehaviour how;
    how.fit = [alter = records[at]](Session& session, const FitSpec& spec, Observer* observer,
                                    FitResult& result) {
      AlteringObserver altering(observer, alter);
      return session.fit(spec, &altering, result);
    };
    EXPECT_FALSE(run_misbehaving(how, glob).verified()) << "record " << at;
  }
}

TEST(Conformance, AFitThatIsSilentFails) {
  Misbehaviour how;
  how.fit = [](Session& session, const FitSpec& spec, Observer*, FitResult& result) {
    return session.fit(spec, nullptr, result);
  };
  expect_part(failure(run_misbehaving(how, "observe/accounts"), ""), "the observer was not called");
  expect_part(failure(run_misbehaving(how, "stop/closing-*"), ""), "the observer was not called");
  EXPECT_FALSE(run_misbehaving(how, "whole-fit/*").verified());
}

TEST(Conformance, AStatusWithoutATextIsNamed) {
  Misbehaviour how;
  how.fit = [](Session&, const FitSpec&, Observer*, FitResult&) {
    return Status::error(StatusCode::device_error, "");
  };
  expect_part(failure(run_misbehaving(how, "observe/accounts"), ""), "device error");
}

// A message without a terminating zero is not read beyond its end.
TEST(Conformance, AStatusIsPrintable) {
  Misbehaviour how;
  how.fit = [](Session&, const FitSpec&, Observer*, FitResult&) {
    Status status;
    status.code = StatusCode::internal;
    std::fill(std::begin(status.message), std::end(status.message), '\x1b');
    return status;
  };
  const std::string message = failure(run_misbehaving(how, "observe/accounts"), "");
  std::string escaped;
  for (std::size_t i = 0; i < sizeof(Status::message); ++i) escaped += "\\x1b";
  expect_part(message, escaped);
  EXPECT_LT(message.size(), escaped.size() + 100);
}

TEST(Conformance, OpeningNothingFails) {
  Misbehaviour how;
  how.open = [](Backend&, const DatasetView&, const ParameterList&, Session**) { return Status(); };
  const Report report = run_misbehaving(how);
  EXPECT_FALSE(report.verified());
  expect_part(failure(report, "lattice/ties"), "gave no session");
}

TEST(Conformance, IterationsThatWereNotAskedForFail) {
  Misbehaviour how;
  how.fit = [](Session& session, const FitSpec& spec, Observer* observer, FitResult& result) {
    const Status status = session.fit(spec, observer, result);
    result.iterations = std::numeric_limits<std::int64_t>::max();
    return status;
  };
  expect_part(failure(run_misbehaving(how, "cancel/unobserved"), ""), "iterations reported");
}

// A step that hands out all rows as one block polls once for each pass.
TEST(Conformance, IterationsThatCannotBeCancelledFail) {
  class OncePerPass final : public Observer {
   public:
    explicit OncePerPass(Observer* observer) : observer_(observer) {}
    bool on_iteration(const IterationRecord& record) noexcept override {
      return observer_->on_iteration(record);
    }
    bool stop_requested() const noexcept override {
      constexpr int kPasses = 2;  // of one iteration and the closing assignment
      return ++polls_ <= kPasses && observer_->stop_requested();
    }

   private:
    Observer* observer_;
    mutable int polls_ = 0;
  };
  Misbehaviour how;
  how.fit = [](Session& session, const FitSpec& spec, Observer* observer, FitResult& result) {
    OncePerPass once(observer);
    return session.fit(spec, &once, result);
  };
  const std::string name = "cancel/polls";
  expect_part(failure(run_misbehaving(how, name), ""),
              "one iteration of 262144 samples called stop_requested() 2 times");
  EXPECT_TRUE(run_misbehaving({}, name).verified());
}

// Outputs of partial() are validated before they are used as indices.
TEST(Conformance, FalseOutputsOfPartialFail) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto expect_failure = [](const char* part, std::function<void(PartialResult&)> change) {
    Misbehaviour how;
    how.after_partial = std::move(change);
    expect_part(failure(run_misbehaving(how, "partial/relocation"), ""), part);
    EXPECT_FALSE(run_misbehaving(how, "partial/*").verified()) << part;
  };
  // Only passes that report far samples can falsify one.
  const auto far = [](auto change) {
    return [change](PartialResult& result) {
      if (result.farthest != nullptr && result.farthest_count > 0) change(result.farthest[0]);
    };
  };
  expect_failure("which is not in the range", far([](FarSample& s) { s.row = 1LL << 50; }));
  expect_failure("which is not in the range", far([](FarSample& s) { s.row = -1; }));
  expect_failure("has label 3", far([](FarSample& s) { s.label = 3; }));
  expect_failure("has label -1", far([](FarSample& s) { s.label = -1; }));
  expect_failure("squared distance nan", far([=](FarSample& s) { s.squared_distance = kNan; }));
  expect_failure("squared distance inf",
                 far([=](FarSample& s) { s.squared_distance = kInfinity; }));
  expect_failure("squared distance 0", far([](FarSample& s) { s.squared_distance = 0; }));
  expect_failure("far samples reported", [](PartialResult& r) { r.farthest_count = 1LL << 40; });
  expect_failure("far samples reported", [](PartialResult& r) { r.farthest_count = -1; });
  expect_failure("changed is -1", [](PartialResult& r) { r.changed = -1; });
  const auto set = [](auto member, auto value) {
    return [=](PartialResult& result) {
      if (result.*member != nullptr) (result.*member)[0] = value;
    };
  };
  expect_failure("has label 1073741824", set(&PartialResult::labels, 1 << 30));
  expect_failure("has label -1", set(&PartialResult::labels, -1));
  expect_failure("the count of cluster 0",
                 set(&PartialResult::counts, std::numeric_limits<std::int64_t>::min()));
  expect_failure("not a sum of squared distances", [](PartialResult& result) {
    if (result.inertia == nullptr) return;
    std::fill(std::begin(result.inertia->chunks), std::end(result.inertia->chunks),
              std::numeric_limits<std::int64_t>::max());
  });
}

}  // namespace
}  // namespace lloyd
