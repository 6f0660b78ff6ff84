// supports() and estimate() agree with the behaviour of fits.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include <lloyd/fit.hpp>
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

struct Shape {
  std::int64_t n, d, k;
};

// Shapes beyond the fixed-size tables and tiles of some backends.
constexpr Shape kShapes[] = {{1, 1, 1},        {2, 20000, 2},   {260, 130, 260},
                             {1030, 16, 1030}, {2100, 1, 2050}, {40, 4097, 33}};

Setting one_iteration(const Samples& samples, std::int64_t k) {
  Setting setting;
  setting.clusters = k;
  setting.centroids = first_rows(samples, k);
  setting.max_iterations = 1;
  setting.fixed = true;
  return setting;
}

// Rows 0 and 1 become equal up to the last feature, which must not be left out.
Samples with_decisive_feature(Samples samples) {
  constexpr double kDifference = 1000;  // the accuracy float32 does not allow to ignore it
  if (samples.n < 2) return samples;
  const auto second = samples.values.begin() + samples.d;
  std::copy(samples.values.begin(), second, second);
  samples.values[2 * samples.d - 1] += kDifference;
  return samples;
}

// A shape that supports() accepts can be fitted. If supports() refuses a shape, it gives a reason
// with a number, and open() or fit() refuses it as well.
void supports(const Context& context) {
  for (const Shape& shape : kShapes) {
    const Samples samples =
        rounded(with_decisive_feature(cloud(shape.n, shape.d, 97)), context.dtype());
    const Dataset dataset = make_dataset(samples, context.dtype());
    const Setting setting = one_iteration(samples, shape.k);
    const std::string where = describe("supports", samples, setting);
    const Status status =
        context.backend().supports(make_shape(dataset, shape.k), context.parameters().list(),
                                   make_spec(setting, Run{0, false, nullptr}));
    if (status.ok()) {
      verify_fit(context, "supports", samples, setting);
      continue;
    }
    expect(status.code == StatusCode::unsupported, "{}: supports() answers with status '{}': {}",
           where, name_of(status.code), status_message(status));
    const std::string message = status_message(status);
    expect(std::any_of(message.begin(), message.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; }),
           "{}: the reason gives no limit in numbers: '{}'", where, message);
    Session* session = nullptr;
    const Status status_of_open =
        context.backend().open(dataset.view(), context.parameters().list(), &session);
    if (!status_of_open.ok()) continue;
    const OwnedSession owned = opened(status_of_open, session, where);
    const Trial trial = run_fit(*owned, samples, setting);
    expect(!trial.status.ok(), "{}: supports() refused ('{}'), but fit() succeeded", where,
           message);
  }
}

// Bytes allocated on the C library's heap.
std::int64_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

// Sanitizers replace the heap, so its size is unknown.
void skip_unless_heap_is_measured() {
  const std::int64_t before = heap_bytes();
  const std::vector<char> some(1 << 20);
  if (heap_bytes() - before < static_cast<std::int64_t>(some.size())) {
    throw CaseSkipped{"the heap of this program cannot be measured"};
  }
}

// Resident memory of this process, in bytes; 0 if it is unknown. Does not allocate memory.
std::int64_t resident_bytes() noexcept {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  const ssize_t size = ::read(file, text, sizeof(text) - 1);
  ::close(file);
  if (size <= 0) return 0;
  char* pages = nullptr;
  std::strtoll(text, &pages, 10);  // the whole address space
  return std::strtoll(pages, nullptr, 10) * ::sysconf(_SC_PAGESIZE);
}

// Records the largest heap and the largest resident memory at the end of an iteration, without
// allocating memory.
class MemoryObserver : public Observer {
 public:
  bool on_iteration(const IterationRecord&) noexcept override {
    largest_heap = std::max(largest_heap, heap_bytes());
    largest_resident = std::max(largest_resident, resident_bytes());
    return true;
  }
  bool stop_requested() const noexcept override { return false; }
  std::int64_t largest_heap = 0;
  std::int64_t largest_resident = 0;
};

MemoryEstimate estimated(const Context& context, const Dataset& dataset, const Setting& setting) {
  MemoryEstimate memory;
  memory.host_bytes = memory.device_bytes = -77;
  const Status status =
      context.backend().estimate(make_shape(dataset, setting.clusters), context.parameters().list(),
                                 make_spec(setting, Run{0, false, nullptr}), memory);
  expect(status.ok(), "estimate() failed: {}", status_message(status));
  expect(memory.host_bytes >= 0 && memory.device_bytes >= 0,
         "estimate() gives {} bytes on the host and {} on the device", memory.host_bytes,
         memory.device_bytes);
  return memory;
}

// An estimate that is far above the use makes plans refuse fits that would succeed. Only checked
// with many samples: with few, most workers of a large machine have nothing to do. Backends that
// use a device may hold host memory that is not observed.
void check_excess(const std::string& where, std::int64_t samples, const MemoryEstimate& memory,
                  std::int64_t used) {
  constexpr std::int64_t kMinSamples = 10000;
  constexpr std::int64_t kMaxFactor = 64;
  constexpr std::int64_t kMiBPerProcessor = 16;  // for buffers of threads that were not needed
  if (samples < kMinSamples || memory.device_bytes > 0) return;
  const std::int64_t mebibytes = kMiBPerProcessor * usable_processors();
  const std::int64_t most = kMaxFactor * std::max<std::int64_t>(used, 0) + (mebibytes << 20);
  expect(memory.host_bytes <= most,
         "{}: estimate() gives {} bytes, but a fit used {}; at most {} are allowed ({} times as "
         "many, plus {} MiB), since an estimate that is too high refuses fits that would succeed",
         where, memory.host_bytes, used, most, kMaxFactor, mebibytes);
}

// A fit uses no more host memory than estimated, plus an allowance. Device memory cannot be
// observed here.
void check_estimate(const Context& context, const Samples& samples, std::int64_t clusters) {
  constexpr std::int64_t kAllowedBytes = 128 * 1024;
  const Dataset dataset = make_dataset(samples, context.dtype());
  Setting setting = one_iteration(samples, clusters);
  MemoryObserver observer;
  setting.max_iterations = 5;  // some buffers are allocated in later iterations only
  setting.empty = EmptyClusters::relocate;
  if (!adapt_to_backend(context, dataset, setting)) return;
  const MemoryEstimate memory = estimated(context, dataset, setting);
  const Run run{kObserveIterations, false, &observer};
  const std::int64_t resident_before = resident_bytes();
  // A first fit allocates the memory that the backend keeps for the process.
  run_fit(*context.open(dataset, make_spec(setting)), samples, setting, run);
  // Memory of the test itself: initial centroids and outputs.
  const std::int64_t mine = 16 * clusters * samples.d + 4 * samples.n + 8 * clusters;
  observer.largest_heap = 0;
  const std::int64_t before = heap_bytes();
  const OwnedSession session = context.open(dataset, make_spec(setting));
  const Trial trial = run_fit(*session, samples, setting, run);
  expect(trial.status.ok(), "fit() failed: {}", status_message(trial.status));
  const std::int64_t held = observer.largest_heap - before - mine;
  const auto allowed =
      kAllowedBytes + static_cast<std::int64_t>(1.1 * static_cast<double>(memory.host_bytes));
  expect(
      held <= allowed,
      "{}: a fit held {} bytes of the heap; estimate() gives {} bytes, so at most {} are allowed "
      "(1.1 times as many, plus 128 KiB)",
      describe("estimate", samples, setting), held, memory.host_bytes, allowed);
  const std::int64_t grown = observer.largest_resident - resident_before;
  check_excess(describe("estimate", samples, setting), samples.n, memory, std::max(held, grown));
}

void estimate(const Context& context) {
  skip_unless_heap_is_measured();
  for (const Shape& shape : {Shape{300, 64, 200}, Shape{40000, 20, 3}, Shape{800, 4, 750}}) {
    check_estimate(context, rounded(cloud(shape.n, shape.d, 98), context.dtype()), shape.k);
  }
}

// A parameter may be the size of a buffer: the estimate with each numeric parameter at its minimum
// and at its maximum.
void estimate_parameters(const Context& context) {
  skip_unless_heap_is_measured();
  const Samples samples = rounded(cloud(300, 16, 98), context.dtype());
  const int ends = for_ends_of_parameters(context, [&](const Context& end) {
    if (accepts_parameters(end)) check_estimate(end, samples, 50);
  });
  if (ends == 0) throw CaseSkipped{"the backend has no integer or real parameter"};
}

// The estimate does not depend on the data, so it must hold for values of many magnitudes, too.
void estimate_many_magnitudes(const Context& context) {
  skip_unless_heap_is_measured();
  const double reach = context.dtype() == DType::float32 ? 1e12 : 1e8;
  check_estimate(context, rounded(wide_range(300, 64, reach, 38), context.dtype()), 200);
}

// Estimates do not decrease with the size of the problem, and do not overflow for sizes beyond any
// machine.
void estimate_grows(const Context& context) {
  const auto bytes = [](const MemoryEstimate& memory) {
    return static_cast<double>(memory.host_bytes) + static_cast<double>(memory.device_bytes);
  };
  MemoryEstimate former;
  for (const std::int64_t size : {100, 10000, 1000000}) {
    ProblemShape shape;
    shape.samples = 100 * size;
    shape.features = shape.stride = 16;
    shape.clusters = size;
    shape.dtype = context.dtype();
    FitSpec spec;
    spec.clusters = size;
    spec.max_iterations = 1;
    if (!context.backend().supports(shape, context.parameters().list(), spec).ok()) continue;
    MemoryEstimate memory;
    const Status status =
        context.backend().estimate(shape, context.parameters().list(), spec, memory);
    expect(status.ok(), "estimate() for k={} failed: {}", size, status_message(status));
    expect(bytes(memory) > bytes(former),
           "estimate() for k={} gives {} bytes, and {} for a hundredth of it", size, bytes(memory),
           bytes(former));
    former = memory;
  }
}

// Fails unless `status`, which is not ok, is a refusal of the parameters: they exceed the backend
// or the machine, such as a device that does not exist.
void expect_refusal(const char* call, const Status& status) {
  expect(
      is_refusal(status.code) && status.message[0] != '\0',
      "{} failed with status '{}': {}; a value in the declared range must work, or be refused with "
      "a reason and one of the statuses invalid_argument, unsupported, unavailable and "
      "out_of_memory",
      call, name_of(status.code), status_message(status));
}

void check_parameters(const Context& context, const Samples& samples, const Setting& setting) {
  const Dataset dataset = make_dataset(samples, context.dtype());
  const ParameterList parameters = context.parameters().list();
  const Status supported = context.backend().supports(make_shape(dataset, setting.clusters),
                                                      parameters, make_spec(setting));
  if (!supported.ok()) return expect_refusal("supports()", supported);
  Session* session = nullptr;
  const Status status = context.backend().open(dataset.view(), parameters, &session);
  if (!status.ok()) return expect_refusal("open()", status);
  {
    const OwnedSession owned = opened(status, session, "data");
    const Trial trial = run_fit(*owned, samples, setting);
    if (!trial.status.ok()) return expect_refusal("fit()", trial.status);
  }
  verify_fit(context, "parameters", samples, setting);
}

// Each numeric parameter at its minimum and at its maximum: a small fit is right or refused.
void extreme_parameters(const Context& context) {
  const Samples samples = rounded(cloud(2003, 3, 99), context.dtype());
  Setting setting;
  setting.clusters = 11;
  setting.centroids = first_rows(samples, setting.clusters);
  setting.max_iterations = 3;
  for_ends_of_parameters(context,
                         [&](const Context& end) { check_parameters(end, samples, setting); });
}

}  // namespace

void add_limit_cases(std::vector<Case>& cases) {
  cases.push_back({"limits/supports", Scope::variants, supports});
  cases.push_back({"limits/parameters", Scope::defaults, extreme_parameters});
  cases.push_back({"limits/estimate", Scope::variants, estimate});
  cases.push_back({"limits/estimate-parameters", Scope::defaults, estimate_parameters});
  cases.push_back({"limits/estimate-many-magnitudes", Scope::defaults, estimate_many_magnitudes});
  cases.push_back({"limits/estimate-grows", Scope::variants, estimate_grows});
}

}  // namespace lloyd::conformance
