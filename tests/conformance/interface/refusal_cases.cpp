// Requests that the core refuses before they reach a backend.
#include <cmath>
#include <limits>
#include <memory>

#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/plugin_struct.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/samples.hpp"

namespace lloyd::conformance {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class Exception, class Body>
void expect_refused(const char* what, Body&& body) {
  try {
    body();
  } catch (const Exception& refusal) {
    expect(*refusal.what() != '\0', "{} was refused without a reason", what);
    return;
  }
  fail("{} was not refused", what);
}

// A proxy that hides some capabilities of a backend and counts the calls that reach it.
class Lacking final : public Backend {
 public:
  Lacking(Backend& backend, std::uint64_t bits, int& opened)
      : backend_(backend), info_(host_copy(backend.info())), opened_(opened) {
    info_.capabilities &= ~bits;
  }
  const BackendInfo* info() const noexcept override { return &info_; }
  Status supports(const ProblemShape& shape, const ParameterList& parameters,
                  const FitSpec& spec) const noexcept override {
    return backend_.supports(shape, parameters, spec);
  }
  Status estimate(const ProblemShape& shape, const ParameterList& parameters, const FitSpec& spec,
                  MemoryEstimate& memory) const noexcept override {
    return backend_.estimate(shape, parameters, spec, memory);
  }
  Status open(const DatasetView& dataset, const ParameterList& parameters,
              Session** session) noexcept override {
    ++opened_;
    return backend_.open(dataset, parameters, session);
  }
  void* query(const char* name) noexcept override { return backend_.query(name); }
  void release() noexcept override { delete this; }

 private:
  Backend& backend_;
  BackendInfo info_;
  int& opened_;
};

void expect_required(const Context& context, const char* what, std::uint64_t bit, Layout layout) {
  const Samples samples = lattice(20, 3, 5, 1);
  const Dataset dataset = make_dataset(samples, context.dtype(), layout);
  int opened = 0;
  const auto lacking = std::make_shared<const LoadedBackend>(
      context.loaded().path(), make_plugin_header("lacking", "0"),
      new Lacking(context.backend(), bit, opened), context.loaded().devices(), "");
  expect_refused<Error>(what,
                        [&] { BackendSession session(lacking, dataset, context.parameters()); });
  expect(opened == 0, "{} reached open() of a backend without the capability", what);
  FitSpec spec;
  spec.clusters = 2;
  expect(!unsupported_reason(*lacking, make_shape(dataset, 2), dataset.view().required_capabilities,
                             context.parameters(), spec)
              .empty(),
         "unsupported_reason() gives no reason for {}", what);
}

// A backend never receives data that requires a capability it lacks.
void capability_bits(const Context& context) {
  const bool narrow = context.dtype() == DType::float32;
  expect_required(context, narrow ? "float32 data" : "float64 data",
                  narrow ? kCapabilityFloat32 : kCapabilityFloat64, {});
  expect_required(context, "data in host memory", kCapabilityHostMemory, {});
  expect_required(context, "strided data", kCapabilityStrided, {2, 0});
}

Matrix shaped(std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  static constexpr double kValues[4] = {};
  Matrix matrix;
  matrix.data = kValues;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.stride = stride;
  matrix.dtype = DType::float64;
  return matrix;
}

void bad_data(const Context& context) {
  const auto refuse = [](const char* what, const Matrix& matrix) {
    expect_refused<InputError>(what, [&] { Dataset dataset("bad", matrix); });
  };
  refuse("a data set without rows", shaped(0, 2, 2));
  refuse("a data set without columns", shaped(2, 0, 2));
  refuse("a negative number of rows", shaped(-1, 2, 2));
  refuse("a stride below the number of columns", shaped(2, 2, 1));
  refuse("a size that overflows", shaped(std::int64_t{1} << 40, 2, std::int64_t{1} << 40));
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    Samples samples = lattice(9, 3, 5, 2);
    samples.values[3 * 7 + 1] = value;
    try {
      make_dataset(samples, context.dtype());
    } catch (const InputError& refusal) {
      const std::string message = refusal.what();
      expect(message.find('7') != std::string::npos && message.find('1') != std::string::npos,
             "the refusal of {} in row 7, column 1 says: {}", value, message);
      continue;
    }
    fail("a data set with {} was not refused", value);
  }
  if (context.dtype() != DType::float64) return;
  expect_refused<InputError>("data whose squared distances overflow", [&] {
    make_dataset({2, 1, {-1e200, 1e200}}, DType::float64);
  });
}

void bad_options(const Context& context) {
  constexpr std::int64_t kRows = 40;
  const Samples samples = lattice(kRows, 2, 5, 3);
  const Dataset dataset = make_dataset(samples, context.dtype());
  const std::string reason = context.beyond(dataset, 3);
  if (!reason.empty()) throw CaseSkipped{reason};
  const std::shared_ptr<const LoadedBackend> backend(std::shared_ptr<void>(), &context.loaded());
  BackendSession session(backend, dataset, context.parameters());
  const std::vector<double> start = first_rows(samples, 3);
  const auto refuse = [&](const char* what, auto change, const std::vector<double>& centroids) {
    FitOptions options;
    options.clusters = 3;
    options.empty_clusters = EmptyClusters::keep;
    options.tolerance = 0;
    change(options);
    expect_refused<InputError>(what, [&] { session.fit_from(centroids, options); });
  };
  const auto unchanged = [](FitOptions&) {};
  refuse("k = 0", [](FitOptions& o) { o.clusters = 0; }, {});
  refuse(
      "k = -1", [](FitOptions& o) { o.clusters = -1; }, start);
  refuse(
      "k > n", [](FitOptions& o) { o.clusters = kRows + 1; },
      std::vector<double>(2 * (kRows + 1), 0.0));
  refuse(
      "max_iterations = 0", [](FitOptions& o) { o.max_iterations = 0; }, start);
  refuse(
      "a negative tolerance", [](FitOptions& o) { o.tolerance = -1e-4; }, start);
  refuse(
      "a tolerance that is NaN", [](FitOptions& o) { o.tolerance = kNan; }, start);
  refuse(
      "restarts = 0", [](FitOptions& o) { o.restarts = 0; }, start);
  refuse("too few centroid values", unchanged, first_rows(samples, 2));
  refuse("too many centroid values", unchanged, first_rows(samples, 4));
  for (const double value : {kNan, kInfinity}) {
    std::vector<double> centroids = start;
    centroids[3] = value;
    refuse("a centroid that is not finite", unchanged, centroids);
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> counts;
    expect_refused<InputError>("a label request with a centroid that is not finite",
                               [&] { session.label(centroids, 3, labels, counts); });
  }
  std::vector<double> remote = start;
  remote[3] = 1e200;
  refuse("a centroid whose squared distances overflow", unchanged, remote);
  // The control: valid values are accepted.
  FitOptions options;
  options.clusters = 3;
  options.empty_clusters = EmptyClusters::keep;
  options.tolerance = 0;
  const Fit fit = session.fit_from(start, options);
  expect(fit.labels.size() == kRows && !fit.cancelled, "a fit with good options was not done");
}

void bad_parameters(const Context& context) {
  const auto refuse = [&](const std::string& name, const std::string& text) {
    ParameterSet set = context.parameters();
    expect_refused<InputError>(fmt::format("parameter '{}' = '{}'", name, text).c_str(),
                               [&] { set.set(name, text); });
  };
  refuse("no-such-parameter", "1");
  for (const ParameterInfo& parameter : context.parameters().schema()) {
    refuse(parameter.name, "not-a-value");
    refuse(parameter.name, "");
    if (parameter.type != ParameterType::integer) continue;
    refuse(parameter.name, "1.5");
    if (parameter.integer_minimum > std::numeric_limits<std::int64_t>::min()) {
      refuse(parameter.name, std::to_string(parameter.integer_minimum - 1));
    }
    if (parameter.integer_maximum < std::numeric_limits<std::int64_t>::max()) {
      refuse(parameter.name, std::to_string(parameter.integer_maximum + 1));
    }
  }
}

}  // namespace

void add_refusal_cases(std::vector<Case>& cases) {
  cases.push_back({"refusals/capability-bits", Scope::defaults, capability_bits});
  cases.push_back({"refusals/bad-data", Scope::defaults, bad_data});
  cases.push_back({"refusals/bad-options", Scope::defaults, bad_options});
  cases.push_back({"refusals/bad-parameters", Scope::once, bad_parameters});
}

}  // namespace lloyd::conformance
