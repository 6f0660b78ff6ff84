// Faults of steps that LloydLoop and StepBackend detect and name.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/lloyd_loop.hpp>
#include <lloyd/plugin/sdk/step.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

// A step without a fault.
template <class Derived>
struct SoundStep : RowStep<Derived, double> {
  explicit SoundStep(const DatasetView& view) : RowStep<Derived, double>(view, {}) {}
  std::int32_t label(const double* x) const {
    return nearest_centroid(x, this->centroids, this->clusters, this->dataset.features).label;
  }
};

constexpr const char* kNothing = "(nothing was thrown)";

// The errors of the requests over six samples in two clusters.
template <class S>
struct Requests {
  explicit Requests(S& tested) : step(tested), loop(step, kData.view()) {}

  std::string fit() {
    FitSpec spec;
    spec.clusters = 2;
    spec.initial_centroids = kStart.data();
    spec.max_iterations = 10;
    FitResult result;
    return message_of<StatusError>([&] { loop.fit(spec, nullptr, result); });
  }
  std::string label() {
    LabelRequest request;
    request.centroids = kStart.data();
    request.clusters = 2;
    LabelResult result;
    return message_of<StatusError>([&] { loop.label(request, nullptr, result); });
  }
  std::string partial() {
    PartialRequest request;
    request.centroids = kStart.data();
    request.clusters = 2;
    request.rows = {1, 5};
    PartialResult result;
    return message_of<StatusError>([&] { loop.partial(request, nullptr, result); });
  }
  std::string passes() {
    PassOptions options;
    options.clusters = 2;
    PassRequest request;
    request.centroids = kStart.data();
    return message_of<StatusError>([&] {
      loop.begin_passes(options);
      for (int i = 0; i < 2; ++i) {
        PassResult result;
        loop.pass(request, nullptr, result);
      }
    });
  }

  static inline const Dataset kData{
      "samples", Matrix::from_values(std::vector<double>{0, 1, 2, 9, 20, 21}, 6, 1)};
  static inline const std::vector<double> kStart{0, 1};
  S& step;
  LloydLoop<S> loop;
};

// Calls the body for one worker on two threads, which meet in assign().
struct SharedWorkerStep : SoundStep<SharedWorkerStep> {
  using SoundStep::SoundStep;
  int workers() const { return 2; }
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) {
    arrived = 0;
    const std::int64_t middle = rows.begin + rows.size() / 2;
    std::thread other([&] {
      body(1, RowRange{rows.begin, middle});
      ++arrived;
    });
    body(1, RowRange{middle, rows.end});
    ++arrived;
    other.join();
  }
  std::int64_t assign(RowRange block, std::int32_t* labels) {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (arrived < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    return SoundStep::assign(block, labels);
  }
  std::atomic<int> arrived{0};
};

TEST(StepFaults, OneWorkerOnTwoThreadsIsNamed) {
  const std::string fault =
      "the step's for_each_block() calls its body for worker 1 on two threads at once; each worker "
      "index must be used by one thread at a time";
  SharedWorkerStep step(Requests<SharedWorkerStep>::kData.view());
  Requests requests(step);
  EXPECT_EQ(requests.fit(), fault);
  EXPECT_EQ(requests.label(), fault);
  EXPECT_EQ(requests.partial(), fault);
  EXPECT_EQ(requests.passes(), fault);
}

// Changes a centroid in begin_pass() or assign().
struct CentroidWriter : SoundStep<CentroidWriter> {
  using SoundStep::SoundStep;
  void change() { const_cast<double&>(centroids[1]) += 0.125; }
  void begin_pass(const double* values, std::int64_t count, const StepPassOptions& options) {
    RowStep::begin_pass(values, count, options);
    if (in_begin_pass) change();
  }
  std::int64_t assign(RowRange block, std::int32_t* labels) {
    if (in_assign) change();
    return RowStep::assign(block, labels);
  }
  bool in_begin_pass = false;
  bool in_assign = false;
};

TEST(StepFaults, ChangedCentroidsAreNamed) {
  const std::string fault =
      "the step changed the centroids of begin_pass(), which it may only read: centroid 1 differs "
      "after the pass";
  for (bool CentroidWriter::*place : {&CentroidWriter::in_begin_pass, &CentroidWriter::in_assign}) {
    CentroidWriter step(Requests<CentroidWriter>::kData.view());
    Requests requests(step);
    EXPECT_EQ(requests.fit(), kNothing);
    EXPECT_EQ(requests.passes(), kNothing);
    step.*place = true;
    EXPECT_EQ(requests.fit(), fault);
    EXPECT_EQ(requests.label(), fault);
    EXPECT_EQ(requests.partial(), fault);
    EXPECT_EQ(requests.passes(), fault);
  }
}

// Gives one row another label than the nearest centroid.
struct GivenLabelStep : SoundStep<GivenLabelStep> {
  using SoundStep::SoundStep;
  std::int64_t assign(RowRange block, std::int32_t* labels) const {
    const std::int64_t changed = RowStep::assign(block, labels);
    if (block.begin <= 4 && 4 < block.end) labels[4 - block.begin] = given;
    return changed;
  }
  std::int32_t given = 0;
};

TEST(StepFaults, ALabelThatIsNoClusterIsNamedWithItsRow) {
  for (const std::int32_t label : {2, -3, 1'000'000}) {
    const std::string fault = "the step's assign() gives row 4 the label " + std::to_string(label) +
                              ", which is not in [0, 2)";
    GivenLabelStep step(Requests<GivenLabelStep>::kData.view());
    step.given = label;
    Requests requests(step);
    EXPECT_EQ(requests.fit(), fault);
    EXPECT_EQ(requests.label(), fault);
    EXPECT_EQ(requests.partial(), fault);
    EXPECT_EQ(requests.passes(), fault);
  }
}

// Reports changes as the test does.
struct FreeReportStep : SoundStep<FreeReportStep> {
  using SoundStep::assign;
  using SoundStep::SoundStep;
  std::int64_t assign(RowRange block, std::int32_t* labels, LabelChangeSums<double>& changes) {
    const std::int64_t changed = SoundStep::assign(block, labels);
    report(block, labels, changes);
    return changed;
  }
  std::function<void(RowRange, const std::int32_t*, LabelChangeSums<double>&)> report;
};
static_assert(ReportsLabelChanges<FreeReportStep>);

TEST(StepFaults, AReportedLabelThatIsNoClusterIsNamed) {
  FreeReportStep step(Requests<FreeReportStep>::kData.view());
  Requests requests(step);
  const auto error_of = [&](const auto& report) {
    step.report = report;
    std::string fault = requests.fit();
    EXPECT_EQ(requests.passes(), fault);
    return fault;
  };
  using Changes = LabelChangeSums<double>;
  EXPECT_EQ(error_of([](RowRange, const std::int32_t*, Changes& changes) {
              changes.add(3, -1, 5);
              changes.add(4, -1, 6);
            }),
            "the step's assign() gives row 3 the label 5, which is not in [0, 2)");
  EXPECT_EQ(error_of([](RowRange, const std::int32_t*, Changes& changes) {
              const LabelChange reported[] = {{0, -1, 1}, {2, 7, 0}};
              changes.add(reported, 2);
            }),
            "the step's assign() gives row 2 the former label 7, which is not in [0, 2)");
  EXPECT_EQ(error_of([](RowRange, const std::int32_t*, Changes& changes) {
              const LabelChange reported{0, -1, 9};
              const double copied = 1;
              changes.add(&copied, 1, &reported, 1);
            }),
            "the step's assign() gives a row the label 9, which is not in [0, 2)");
  EXPECT_EQ(error_of([](RowRange block, const std::int32_t*, Changes& changes) {
              const std::vector<std::int32_t> labels{0, 0, 0, 0, 0, -1};
              changes.add(block, labels.data());
            }),
            "the step's assign() gives row 5 the label -1, which is not in [0, 2)");
}

TEST(StepFaults, ReportsOfChangesMustBeComplete) {
  FreeReportStep step(Requests<FreeReportStep>::kData.view());
  Requests requests(step);
  // One row is reported twice as new.
  step.report = [](RowRange block, const std::int32_t* labels, LabelChangeSums<double>& changes) {
    changes.add(block, labels);
    changes.add(0, -1, 0);
  };
  const std::string fault =
      "after the step's assign(), the counts of the clusters add up to 7, not to 6: it must report "
      "each changed label once, with its former label";
  EXPECT_EQ(requests.fit(), fault);
  EXPECT_EQ(requests.passes(), fault);
}

// Writes the label of the row after each of its blocks of two rows.
struct OverrunningStep : SoundStep<OverrunningStep> {
  using SoundStep::SoundStep;
  static constexpr std::int64_t kBlockRows = 2;
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) const {
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += kBlockRows) {
      body(0, RowRange{begin, std::min(begin + kBlockRows, rows.end)});
    }
  }
  std::int64_t assign(RowRange block, std::int32_t* labels) const {
    const std::int64_t changed = RowStep::assign(block, labels);
    if (block.end < dataset.samples) labels[block.size()] = 1;
    return changed;
  }
};

TEST(StepFaults, ALabelBeyondABlockIsNamed) {
  const std::string fault =
      "row 2 had a label before its block was assigned: the step's assign() must write the labels "
      "of its block only, and for_each_block() must hand out each row once";
  OverrunningStep step(Requests<OverrunningStep>::kData.view());
  Requests requests(step);
  EXPECT_EQ(requests.fit(), fault);
  EXPECT_EQ(requests.label(), fault);
  EXPECT_EQ(requests.passes(), fault);
}

struct UncountingStep : SoundStep<UncountingStep> {
  using SoundStep::SoundStep;
  std::int64_t take_distances() { return distances; }
  std::int64_t distances = 12;
};
static_assert(KeepsBounds<UncountingStep>);

TEST(StepFaults, ImpossibleDistancesAreThoseOfTakeDistances) {
  UncountingStep step(Requests<UncountingStep>::kData.view());
  Requests requests(step);
  EXPECT_EQ(requests.fit(), kNothing);
  for (const std::int64_t wrong : {std::int64_t{-5}, INT64_MAX}) {
    const std::string fault =
        "the step's take_distances() returns " + std::to_string(wrong) + "; 0 to 2^62 are possible";
    step.distances = wrong;
    EXPECT_EQ(requests.fit(), fault);
    EXPECT_EQ(requests.passes(), fault);
  }
}

// Counts every label as an exact fallback.
template <class Derived>
struct FallingBackStep : SoundStep<Derived> {
  using SoundStep<Derived>::SoundStep;
  std::int64_t assign(RowRange block, std::int32_t* labels) {
    fallbacks += block.size();
    return SoundStep<Derived>::assign(block, labels);
  }
  std::int64_t fallbacks = 0;
};
// Clears the counter before each pass, not when it is taken.
struct ClearingStep : FallingBackStep<ClearingStep> {
  using FallingBackStep::FallingBackStep;
  void begin_pass(const double* values, std::int64_t count, const StepPassOptions& options) {
    fallbacks = 0;
    FallingBackStep::begin_pass(values, count, options);
  }
  std::int64_t take_exact_fallbacks() { return fallbacks; }
};
struct TotalStep : FallingBackStep<TotalStep> {
  using FallingBackStep::FallingBackStep;
  std::int64_t take_exact_fallbacks() { return fallbacks; }
};
static_assert(CountsExactFallbacks<ClearingStep> && CountsExactFallbacks<TotalStep>);

TEST(StepFaults, ExactFallbacksAreTakenAfterEachPass) {
  ClearingStep step(Requests<ClearingStep>::kData.view());
  LloydLoop<ClearingStep> loop(step, Requests<ClearingStep>::kData.view());
  FitSpec spec;
  spec.clusters = 2;
  spec.initial_centroids = Requests<ClearingStep>::kStart.data();
  spec.max_iterations = 3;
  spec.stop_rule = StopRule::fixed;
  FitResult result;
  loop.fit(spec, nullptr, result);
  EXPECT_EQ(result.iterations, 3);
  EXPECT_EQ(result.exact_fallbacks, 4 * 6);  // with the closing assignment
  EXPECT_EQ(Requests(step).passes(), kNothing);
}

TEST(StepFaults, MoreExactFallbacksThanSamplesInAPass) {
  TotalStep step(Requests<TotalStep>::kData.view());
  const std::string fault =
      "the step's take_exact_fallbacks() returns 12 after a pass over 6 samples; it must count the "
      "labels that the definition decided since the last call";
  EXPECT_EQ(Requests(step).fit(), fault);
}

// Throws in the function that `throwing_function` names.
std::string_view throwing_function;
void (*throw_chosen)() = nullptr;
void throw_in(std::string_view function) {
  if (throwing_function == function) throw_chosen();
}

template <class T>
struct RaisingStep : RowStep<RaisingStep<T>, T> {
  RaisingStep(const DatasetView& view, const ParameterList& parameters)
      : RowStep<RaisingStep<T>, T>(view, parameters) {
    throw_in("constructor");
  }
  static Status probe(DeviceList* devices) {
    throw_in("probe()");
    return StepBase::probe(devices);
  }
  static Status supports(const ProblemShape&, const ParameterList&, const FitSpec&) {
    throw_in("supports()");
    return {};
  }
  static std::int64_t estimate_bytes(const ProblemShape&, const ParameterList&) {
    throw_in("estimate_bytes()");
    return 0;
  }
  static std::int64_t estimate_device_bytes(const ProblemShape&, const ParameterList&) {
    throw_in("estimate_device_bytes()");
    return 0;
  }
  static int estimate_workers(const ParameterList&) {
    throw_in("estimate_workers()");
    return 1;
  }
  int workers() const {
    throw_in("workers()");
    return 1;
  }
  void begin_fit(const StepFitOptions&) { throw_in("begin_fit()"); }
  void begin_pass(const double* values, std::int64_t count, const StepPassOptions& options) {
    throw_in("begin_pass()");
    RowStep<RaisingStep, T>::begin_pass(values, count, options);
  }
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) const {
    throw_in("for_each_block()");
    StepBase::for_each_block(rows, body);
  }
  std::int64_t assign(RowRange block, std::int32_t* labels) {
    throw_in("assign()");
    return RowStep<RaisingStep, T>::assign(block, labels);
  }
  std::int32_t label(const T* x) const {
    return nearest_centroid(x, this->centroids, this->clusters, this->dataset.features).label;
  }
  double transfer_ms() const {
    throw_in("transfer_ms()");
    return 0;
  }
  std::int64_t take_distances() {
    throw_in("take_distances()");
    return 1;
  }
  std::int64_t take_exact_fallbacks() {
    throw_in("take_exact_fallbacks()");
    return 0;
  }
};

constexpr BackendInfo kInfo = exact_step_info("throws");

// The first status of the calls to a backend and a session that is not ok.
Status use_backend() {
  using RaisingBackend = StepBackend<RaisingStep, kInfo>;
  RaisingBackend backend;
  DeviceList devices;
  if (const Status status = RaisingBackend::probe(&devices); !status.ok()) return status;
  const Dataset& data = Requests<UncountingStep>::kData;
  ProblemShape shape;
  shape.samples = data.view().samples;
  shape.features = shape.stride = 1;
  shape.clusters = 2;
  shape.dtype = DType::float64;
  FitSpec spec;
  spec.clusters = 2;
  spec.profile = 1;
  spec.initial_centroids = Requests<UncountingStep>::kStart.data();
  spec.max_iterations = 10;
  MemoryEstimate memory;
  if (const Status status = backend.supports(shape, {}, spec); !status.ok()) return status;
  if (const Status status = backend.estimate(shape, {}, spec, memory); !status.ok()) return status;
  Session* session = nullptr;
  if (const Status status = backend.open(data.view(), {}, &session); !status.ok()) return status;
  FitResult result;
  const Status status = session->fit(spec, nullptr, result);
  session->release();
  return status;
}

TEST(StepFaults, AnExceptionIsReportedWithTheFunctionThatThrewIt) {
  for (const std::string_view function :
       {"constructor", "probe()", "supports()", "estimate_bytes()", "estimate_device_bytes()",
        "estimate_workers()", "workers()", "begin_fit()", "begin_pass()", "for_each_block()",
        "assign()", "transfer_ms()", "take_distances()", "take_exact_fallbacks()"}) {
    throwing_function = function;
    const std::string step = "the step's " + std::string(function);
    const auto status_of = [](void (*how)()) {
      throw_chosen = how;
      return use_backend();
    };
    const Status singular = status_of([] { throw std::runtime_error("the matrix is singular"); });
    EXPECT_EQ(singular.code, StatusCode::internal);
    EXPECT_EQ(singular.message, step + " threw an exception: the matrix is singular");
    const Status silent = status_of([] { throw std::runtime_error(""); });
    EXPECT_EQ(silent.message, step + " threw an exception without a message");
    const Status number = status_of([] { throw 7; });
    EXPECT_EQ(number.code, StatusCode::internal);
    EXPECT_EQ(number.message, step + " threw an exception that is not a std::exception");
    const Status no_memory = status_of([] { throw std::bad_alloc(); });
    EXPECT_EQ(no_memory.code, StatusCode::out_of_memory);
    // Memory for the sums of a block may be that of the loop.
    EXPECT_EQ(no_memory.message, function == "assign()"
                                     ? "the backend ran out of host memory"
                                     : "the backend ran out of host memory in " + step);
    // Its author has chosen code and message.
    const Status lost =
        status_of([] { throw StatusError(StatusCode::device_error, "the device is lost"); });
    EXPECT_EQ(lost.code, StatusCode::device_error);
    EXPECT_STREQ(lost.message, "the device is lost");
  }
  throwing_function = {};
  EXPECT_TRUE(use_backend().ok());
}

}  // namespace
}  // namespace lloyd
