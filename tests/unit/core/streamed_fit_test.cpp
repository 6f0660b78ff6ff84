// Fits of data that is not in memory: the bits of a fit in memory, and errors of the source.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/registry.hpp>

#include "conformance/conformance.hpp"
#include "conformance/support/samples.hpp"
#include "fit/streamed_session.hpp"
#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/faulty_rows.hpp"
#include "unit/support/fit_results.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kBlockRows = 509;  // prime, so the last block is partial

template <class T>
struct ExactStep : RowStep<ExactStep<T>, T> {
  using RowStep<ExactStep<T>, T>::RowStep;
  std::int32_t label(const T* x) const {
    return nearest_centroid(x, this->centroids, this->clusters, this->dataset.features).label;
  }
};
constexpr BackendInfo exact_info() {
  BackendInfo info = exact_step_info("exact");
  info.capabilities |= kCapabilityRowWindows;
  return info;
}
constexpr BackendInfo kExactInfo = exact_info();
using ExactBackend = StepBackend<ExactStep, kExactInfo>;

std::shared_ptr<const LoadedBackend> exact_backend() {
  return std::make_shared<const LoadedBackend>("exact", make_plugin_header("exact", "1"),
                                               new ExactBackend, std::vector<DeviceInfo>(1), "");
}

std::shared_ptr<const RowSource> source_of(const Matrix& matrix) {
  return rows_of("streamed", matrix);
}

// A session that streams its data set in blocks, or in windows if `window_rows` is not 0.
class OwningSession final : public Session {
 public:
  OwningSession(const std::shared_ptr<const LoadedBackend>& backend, const Matrix& matrix,
                std::int64_t window_rows)
      : dataset_(source_of(matrix), kBlockRows),
        session_(new StreamedSession(backend, dataset_, backend->default_parameters(), kBlockRows,
                                     window_rows)) {}
  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override {
    return session_->fit(spec, observer, result);
  }
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override {
    return session_->label(request, observer, result);
  }
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override {
    return session_->partial(request, observer, result);
  }
  void* query(const char* name) noexcept override { return session_->query(name); }
  void release() noexcept override {
    session_->release();
    delete this;
  }

 private:
  Dataset dataset_;
  StreamedSession* session_;
};

constexpr BackendInfo kStreamedInfo = exact_step_info("streamed");

// ExactBackend on streamed blocks or windows of rows.
class StreamedBackend final : public Backend {
 public:
  explicit StreamedBackend(std::int64_t window_rows) : window_rows_(window_rows) {}
  const BackendInfo* info() const noexcept override { return &kStreamedInfo; }
  Status supports(const ProblemShape& shape, const ParameterList& parameters,
                  const FitSpec& spec) const noexcept override {
    return inner_->backend().supports(shape, parameters, spec);
  }
  Status estimate(const ProblemShape& shape, const ParameterList& parameters, const FitSpec& spec,
                  MemoryEstimate& memory) const noexcept override {
    const Status status = inner_->backend().estimate(shape, parameters, spec, memory);
    memory.host_bytes += 64 * shape.samples + 64 * shape.features * (shape.clusters + kBlockRows);
    return status;
  }
  Status open(const DatasetView& view, const ParameterList& parameters,
              Session** session) noexcept override {
    // A row source computes its own statistics, so parts of a data set are not streamed.
    if (view.total_samples != view.samples) {
      return inner_->backend().open(view, parameters, session);
    }
    return guarded([&] {
      *session = new OwningSession(
          inner_, {nullptr, view.data, view.samples, view.features, view.stride, view.dtype},
          window_rows_);
    });
  }
  void* query(const char*) noexcept override { return nullptr; }
  void release() noexcept override { delete this; }

 private:
  std::shared_ptr<const LoadedBackend> inner_ = exact_backend();
  std::int64_t window_rows_;
};

void expect_conformance(std::int64_t window_rows) {
  const LoadedBackend backend("streamed", make_plugin_header("streamed", "1"),
                              new StreamedBackend(window_rows), std::vector<DeviceInfo>(1), "");
  const conformance::Report report = conformance::run(backend);
  EXPECT_TRUE(report.verified());
  for (const conformance::Result& result : report.results) {
    EXPECT_NE(result.outcome, conformance::Outcome::failed)
        << result.name << ": " << result.message;
    if (!result.name.starts_with("pass/")) continue;
    EXPECT_EQ(result.outcome == conformance::Outcome::skipped, window_rows == 0) << result.name;
  }
}

TEST(StreamedFits, PassTheConformanceSuite) {
  expect_conformance(0);
}

TEST(StreamedFits, InWindowsPassTheConformanceSuite) {
  expect_conformance(kBlockRows);
}

Dataset in_memory(const conformance::Samples& samples, DType dtype) {
  return conformance::make_dataset(samples, dtype);
}

class StreamedFitsOf : public testing::TestWithParam<std::string> {
 protected:
  void expect_same_bits(const Dataset& dataset, FitOptions options,
                        SeedingMethod seeding = SeedingMethod::first) {
    options.seeding.method = seeding;
    Registry registry(Registry::default_folders());
    const auto backend = registry.load(GetParam());
    BackendSession whole(backend, dataset, backend->default_parameters());
    const Fit expected = fit(whole, options);
    for (const std::int64_t rows : {std::int64_t{37}, std::int64_t{1} << 40}) {
      const Dataset streamed(source_of(dataset.matrix()), rows);
      for (const std::int64_t window_rows : {0, 37, 64, 1 << 20}) {
        BackendSession session(backend, streamed, backend->default_parameters(), rows, window_rows);
        const Fit found = fit(session, options);
        expect_same_results(found, expected, streamed);
        // Compensated sums take passes over blocks, which do not count them.
        if (window_rows == 0 || found.result.sum_form == SumForm::compensated) continue;
        EXPECT_EQ(found.result.exact_fallbacks < 0, expected.result.exact_fallbacks < 0);
      }
    }
  }
};

TEST_P(StreamedFitsOf, AreTheBitsOfAFitInMemory) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    expect_same_bits(in_memory(conformance::cloud(500, 5, 1), dtype), {.clusters = 7});
    expect_same_bits(in_memory(conformance::blobs(300, 3, 6, 1.0, 2), dtype),
                     {.clusters = 6, .max_iterations = 4, .fixed_iterations = true});
  }
}

TEST_P(StreamedFitsOf, StartFromTheSameSamples) {
  for (const SeedingMethod method : seeding_methods()) {
    if (method == SeedingMethod::file) continue;
    expect_same_bits(in_memory(conformance::cloud(500, 5, 6), DType::float32), {.clusters = 7},
                     method);
  }
}

TEST_P(StreamedFitsOf, RelocateTheSameSamples) {
  // Equal first rows give empty clusters.
  conformance::Samples samples = conformance::cloud(200, 2, 3);
  for (std::size_t i = 2; i < 12; ++i) samples.values[i] = samples.values[i % 2];
  expect_same_bits(in_memory(samples, DType::float64), {.clusters = 6});
  // The range of values exceeds integer sums.
  conformance::Samples wide = conformance::wide_range(200, 2, 0x1p90, 4);
  for (std::size_t i = 2; i < 12; ++i) wide.values[i] = wide.values[i % 2];
  expect_same_bits(in_memory(wide, DType::float64), {.clusters = 6});
}

INSTANTIATE_TEST_SUITE_P(Backends, StreamedFitsOf, testing::Values("sequential", "openmp"),
                         [](const auto& test) { return test.param; });

TEST(StreamedDataset, IsDescribedAsInMemory) {
  const Dataset whole = make_blobs({.samples = 10000, .features = 3, .centers = 4, .seed = 1});
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{4096},
                                  std::int64_t{5000}, std::int64_t{1} << 40}) {
    const Dataset streamed(source_of(whole.matrix()), rows);
    EXPECT_FALSE(streamed.in_memory());
    EXPECT_EQ(streamed.samples(), 10000);
    EXPECT_EQ(streamed.fingerprint(), whole.fingerprint());
    EXPECT_EQ(streamed.mean_variance(), whole.mean_variance());
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(streamed.statistics()[j].mean, whole.statistics()[j].mean);
      EXPECT_EQ(streamed.statistics()[j].variance, whole.statistics()[j].variance);
      EXPECT_EQ(streamed.statistics()[j].quantum_exponent, whole.statistics()[j].quantum_exponent);
    }
    EXPECT_EQ(streamed.sample(9999), whole.sample(9999));
  }
}

TEST(StreamedDataset, NamesTheRowOfAValueThatIsNotFinite) {
  std::vector<double> values(200, 1.0);
  values[151] = std::numeric_limits<double>::quiet_NaN();
  try {
    const Dataset streamed(source_of(Matrix::from_values(values, 100, 2)), 10);
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "streamed: row 75, column 1 (counted from 0) is nan; all values must be finite");
  }
}

TEST(StreamedDataset, CanBeCancelled) {
  const Matrix matrix = Matrix::from_values(std::vector<double>(200, 1.0), 100, 2);
  EXPECT_THROW(Dataset(source_of(matrix), 10, [](std::int64_t rows) { return rows == 50; }),
               Cancelled);
}

void lose_disk(void*, std::int64_t) {
  throw InputError("failing: the disk is gone");
}

TEST(StreamedFits, PassOnWhatTheSourceThrows) {
  const Matrix matrix = Matrix::from_values(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8, 1);
  const auto backend = exact_backend();
  for (const std::int64_t window_rows : {0, 2}) {
    for (const int reads : {4, 5, 6, 9, 12, 18}) {  // the statistics take four of them
      const Dataset dataset(std::make_shared<const FaultyRows>("failing", matrix, reads, lose_disk),
                            2);
      BackendSession session(backend, dataset, backend->default_parameters(), 2, window_rows);
      FitOptions options{.clusters = 2, .max_iterations = 3, .fixed_iterations = true};
      try {
        session.fit_from({0, 1}, options);
        FAIL() << "was finished";
      } catch (const InputError& error) {  // the error is not the backend's
        EXPECT_STREQ(error.what(), "failing: the disk is gone");
      }
    }
  }
}

// Clusters 1000 rows of a source in blocks of 100 rows. The fault is at the first read after those
// for the statistics, then at each later one, until a fit has no more reads. Returns the messages.
std::vector<std::string> messages_of_faults(const FaultyRows::Fault& fault,
                                            std::int64_t window_rows = 0) {
  constexpr std::int64_t kRows = 100;
  std::vector<double> values(2000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * i % 97);
  const Matrix matrix = Matrix::from_values(values, 1000, 2);
  const auto backend = exact_backend();
  std::vector<std::string> messages;
  for (int reads = 10; reads < 1000; ++reads) {
    const Dataset dataset(std::make_shared<const FaultyRows>("failing", matrix, reads, fault),
                          kRows);
    BackendSession session(backend, dataset, backend->default_parameters(), kRows, window_rows);
    try {
      fit(session, {.clusters = 3, .max_iterations = 2});
      break;
    } catch (const InputError& error) {
      messages.emplace_back(error.what());
    }
  }
  EXPECT_GT(messages.size(), 60u);
  return messages;
}

// At whatever read it fails: of seeding, fit or the final check.
TEST(StreamedFits, SeedingPassesOnWhatTheSourceThrows) {
  for (const std::int64_t window_rows : {0, 100}) {
    for (const std::string& message : messages_of_faults(lose_disk, window_rows)) {
      EXPECT_EQ(message, "failing: the disk is gone");
    }
  }
}

TEST(StreamedFits, NameTheRowsAtWhichTheSourceThrows) {
  const std::pair<FaultyRows::Fault, std::string> faults[] = {
      {[](void*, std::int64_t) { throw std::runtime_error("no route to host"); },
       "no route to host"},
      {[](void*, std::int64_t) { throw std::bad_alloc(); }, "host memory is exhausted"},
      {[](void*, std::int64_t) { throw 42; },
       "the source threw an exception that is not a std::exception"}};
  for (const auto& [fault, cause] : faults) {
    const std::vector<std::string> messages = messages_of_faults(fault);
    for (const std::string& message : messages) {
      EXPECT_TRUE(message.starts_with("reading rows ")) << message;
      EXPECT_TRUE(message.ends_with(" of failing: " + cause)) << message;
    }
    EXPECT_EQ(messages.back(), "reading rows 900 to 999 of failing: " + cause);
  }
}

// A source whose read() does not fill the rows that `left_out` returns.
class ShortRows final : public RowSource {
 public:
  using LeftOut = std::function<RowRange(RowRange rows, int read)>;
  ShortRows(const Matrix& matrix, LeftOut left_out)
      : rows_(rows_of("short", matrix)), left_out_(std::move(left_out)) {}
  const std::string& name() const override { return rows_->name(); }
  std::int64_t samples() const override { return rows_->samples(); }
  std::int64_t features() const override { return rows_->features(); }
  DType dtype() const override { return rows_->dtype(); }
  void read(RowRange rows, void* values) const override {
    const RowRange gap = left_out_(rows, reads_++);
    const std::int64_t row_bytes = features() * size_of(dtype());
    rows_->read({rows.begin, gap.begin}, values);
    rows_->read({gap.end, rows.end},
                static_cast<char*>(values) + (gap.end - rows.begin) * row_bytes);
  }

 private:
  std::unique_ptr<RowSource> rows_;
  LeftOut left_out_;
  mutable std::atomic<int> reads_ = 0;
};

const Matrix kTenRows =
    Matrix::from_values(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10, 1);

TEST(StreamedDataset, NamesARowThatTheSourceDoesNotFill) {
  const auto message = [](RowRange gap) {
    const auto source = std::make_shared<const ShortRows>(kTenRows, [gap](RowRange rows, int) {
      return rows.begin == 4 ? gap : RowRange{rows.end, rows.end};
    });
    return message_of<InputError>([&] { Dataset(source, 4); });
  };
  const std::string text =
      "short: read() was asked for the rows 4 to 7 and returned without all values of row {}; it "
      "must fill every row, or throw";
  EXPECT_EQ(message({7, 8}), fmt::format(fmt::runtime(text), 7));
  EXPECT_EQ(message({4, 8}), fmt::format(fmt::runtime(text), 4));
  EXPECT_EQ(message({5, 7}), fmt::format(fmt::runtime(text), 5));  // a gap, not a short read
  for (const auto& matrix : {kTenRows, Matrix::from_values(std::vector<float>(10), 5, 2)}) {
    const ShortRows source(matrix, [](RowRange rows, int) { return RowRange{3, rows.end}; });
    EXPECT_EQ(message_of<InputError>([&] { matrix_of(source); }),
              fmt::format("short: read() was asked for the rows 0 to {} and returned without all "
                          "values of row 3; it must fill every row, or throw",
                          matrix.rows - 1));
  }
}

TEST(StreamedFits, NameTheRowsThatTheSourceDoesNotFill) {
  const auto backend = exact_backend();
  for (const std::int64_t window_rows : {0, 5}) {
    // The statistics take two reads.
    const auto source = std::make_shared<const ShortRows>(kTenRows, [](RowRange rows, int read) {
      return RowRange{read < 3 ? rows.end : rows.begin + 2, rows.end};
    });
    const Dataset dataset(source, 5);
    BackendSession session(backend, dataset, {}, 5, window_rows);
    const std::string message = message_of<InputError>([&] {
      session.fit_from({0, 9}, {.clusters = 2});
    });
    EXPECT_TRUE(message.starts_with("short: read() was asked for the rows ")) << message;
    EXPECT_TRUE(message.ends_with(" it must fill every row, or throw")) << message;
  }
}

TEST(StreamedFits, ASourceMayCancelThem) {
  const Matrix matrix = Matrix::from_values(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8, 1);
  const auto backend = exact_backend();
  const auto cancel = [](void*, std::int64_t) { throw Cancelled(); };
  const Dataset dataset(std::make_shared<const FaultyRows>("cancelled", matrix, 5, cancel), 2);
  BackendSession session(backend, dataset, backend->default_parameters(), 2);
  EXPECT_THROW(session.fit_from({0, 1}, {.clusters = 2}), Cancelled);
}

TEST(StreamedFits, ASourceThatReturnsOtherValuesIsNamed) {
  for (const std::int64_t window_rows : {0, 100}) {
    for (const std::string& message : messages_of_faults(shift_values, window_rows)) {
      EXPECT_EQ(message,
                "failing: the source of rows returned values that differ from those of its first "
                "pass; it must return the same rows in every pass");
    }
  }
}

// The first pass reads a file ahead, later ones map it or read it on the backend's threads.
TEST(StreamedFits, InWindowsOfFilesHaveTheBitsOfAFitInMemory) {
  const TemporaryFolder folder;
  const Dataset whole = make_blobs({.samples = 20000, .features = 5, .centers = 9, .seed = 4});
  Registry registry(Registry::default_folders());
  const auto backend = registry.load("openmp");
  const FitOptions options{.clusters = 9, .max_iterations = 12, .fixed_iterations = true};
  BackendSession in_memory(backend, whole, backend->default_parameters());
  const Fit expected = fit(in_memory, options);
  for (const char* name : {"rows.npy", "rows.fvecs"}) {
    const std::filesystem::path file = folder.path() / name;
    write_dataset(file, whole);
    const Dataset streamed(open_rows(file), 1000);
    BackendSession session(backend, streamed, backend->default_parameters(), 1000, 3000);
    expect_same_results(fit(session, options), expected, streamed);
  }
}

TEST(StreamedDataset, RefusesANullSource) {
  EXPECT_EQ(message_of<InputError>([] { Dataset(std::shared_ptr<const RowSource>(), 10); }),
            "the source of rows is null");
}

// What is wrong with a backend that declares passes in windows.
enum class WindowFault {
  no_passes,
  wrong_sums,
  far_sums,             // out of the range of the data
  sum_without_samples,  // of the last cluster
  wrong_counts,
  wrong_label,
  ignores_failures
};

// The passes of a session, with a fault.
class FaultyPasses final : public Session, public WindowedPasses {
 public:
  FaultyPasses(Session* inner, WindowFault fault, std::int64_t samples)
      : inner_(inner),
        passes_(static_cast<WindowedPasses*>(inner->query(kWindowedPasses))),
        fault_(fault),
        samples_(samples) {}
  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override {
    return inner_->fit(spec, observer, result);
  }
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override {
    return inner_->label(request, observer, result);
  }
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override {
    const Status status = inner_->partial(request, observer, result);
    if (fault_ == WindowFault::far_sums && result.sums != nullptr) result.sums[0].low += 1000;
    return status;
  }
  void* query(const char* name) noexcept override {
    if (fault_ == WindowFault::no_passes || std::string_view(name) != kWindowedPasses) {
      return nullptr;
    }
    return static_cast<WindowedPasses*>(this);
  }
  void release() noexcept override {
    inner_->release();
    delete this;
  }
  Status begin(const PassOptions& options) noexcept override { return passes_->begin(options); }
  Status pass(const PassRequest& request, RowWindows& windows, Observer* observer,
              PassResult& result) noexcept override {
    const Status status = passes_->pass(request, windows, observer, result);
    if (fault_ == WindowFault::ignores_failures) return {};
    if (request.sums != nullptr) {
      if (fault_ == WindowFault::wrong_sums) ++request.sums[0];
      if (fault_ == WindowFault::far_sums) request.sums[0] += 1000;
      if (fault_ == WindowFault::sum_without_samples) ++request.sums[1];
    }
    if (fault_ == WindowFault::wrong_counts) ++request.counts[0];
    return status;
  }
  Status farthest(std::int64_t wanted, RowWindows& windows, Observer* observer, FarSample* samples,
                  std::int64_t* count) noexcept override {
    return passes_->farthest(wanted, windows, observer, samples, count);
  }
  Status labels(std::int32_t* labels) noexcept override {
    const Status status = passes_->labels(labels);
    if (fault_ == WindowFault::wrong_label) labels[samples_ - 1] = 1 << 30;
    return status;
  }
  void end() noexcept override { passes_->end(); }

 private:
  Session* inner_;
  WindowedPasses* passes_;
  WindowFault fault_;
  std::int64_t samples_;
};

class FaultyWindows final : public Backend {
 public:
  explicit FaultyWindows(WindowFault fault) : fault_(fault) {}
  const BackendInfo* info() const noexcept override { return &kExactInfo; }
  Status supports(const ProblemShape&, const ParameterList&,
                  const FitSpec&) const noexcept override {
    return {};
  }
  Status estimate(const ProblemShape&, const ParameterList&, const FitSpec&,
                  MemoryEstimate&) const noexcept override {
    return {};
  }
  Status open(const DatasetView& view, const ParameterList& parameters,
              Session** session) noexcept override {
    const Status status = inner_->backend().open(view, parameters, session);
    if (view.data == nullptr || fault_ == WindowFault::far_sums) {
      *session = new FaultyPasses(*session, fault_, view.samples);
    }
    return status;
  }
  void* query(const char*) noexcept override { return nullptr; }
  void release() noexcept override { delete this; }

 private:
  std::shared_ptr<const LoadedBackend> inner_ = exact_backend();
  WindowFault fault_;
};

TEST(StreamedFits, FindTheFaultsOfPassesInWindows) {
  const Matrix matrix = Matrix::from_values(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8, 1);
  const auto message = [&](WindowFault fault, double second = 1, std::int64_t window_rows = 3) {
    const LoadedBackend faulty("faulty", make_plugin_header("faulty", "1"),
                               new FaultyWindows(fault), std::vector<DeviceInfo>(1), "");
    const std::shared_ptr<const LoadedBackend> backend(std::shared_ptr<void>(), &faulty);
    const Dataset dataset(source_of(matrix), 3);
    BackendSession session(backend, dataset, backend->default_parameters(), 3, window_rows);
    return message_of<BackendError>([&] {
      session.fit_from({0, second}, {.clusters = 2,
                                     .max_iterations = 3,
                                     .fixed_iterations = true,
                                     .empty_clusters = EmptyClusters::keep});
    });
  };
  EXPECT_EQ(message(WindowFault::no_passes),
            "faulty: it declares that it reads rows in windows, but its session has no "
            "WindowedPasses");
  EXPECT_EQ(message(WindowFault::wrong_sums),
            "faulty: a partial pass: the sum of cluster 0, feature 0 is 9, but its samples sum up "
            "to 6");
  // Sums out of range are found in the first iteration, whether it is in windows or in blocks.
  EXPECT_EQ(message(WindowFault::far_sums),
            "faulty: a partial pass: the sum of cluster 0, feature 0 is 1000, where 1 sample of 0 "
            "to 7 sum up");
  EXPECT_EQ(message(WindowFault::far_sums, 1, 0),
            "faulty: a partial pass: the sum of cluster 0, feature 0 is 3000, where 1 sample of 0 "
            "to 7 sum up");
  EXPECT_EQ(message(WindowFault::sum_without_samples, 0),
            "faulty: a partial pass: the sum of cluster 1, feature 0 is 1, where 0 samples of 0 to "
            "7 sum up");
  EXPECT_EQ(message(WindowFault::wrong_counts),
            "faulty: the counts of the clusters add up to 9 with 8 samples");
  EXPECT_EQ(message(WindowFault::wrong_label),
            "faulty: a pass returned a label that is no cluster");
}

TEST(StreamedFits, InWindowsEndAtAFailedReadThatTheBackendIgnores) {
  const Matrix matrix = Matrix::from_values(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8, 1);
  const LoadedBackend faulty("faulty", make_plugin_header("faulty", "1"),
                             new FaultyWindows(WindowFault::ignores_failures),
                             std::vector<DeviceInfo>(1), "");
  const std::shared_ptr<const LoadedBackend> backend(std::shared_ptr<void>(), &faulty);
  for (const int reads : {4, 6}) {
    const Dataset dataset(std::make_shared<const FaultyRows>("failing", matrix, reads, lose_disk),
                          2);
    BackendSession session(backend, dataset, backend->default_parameters(), 2, 2);
    EXPECT_EQ(message_of<InputError>([&] {
                session.fit_from({0, 1}, {.clusters = 2});
              }),
              "failing: the disk is gone");
  }
}

TEST(StreamedFits, LabelWithDistancesAndWithout) {
  const Dataset whole = in_memory(conformance::cloud(100, 3, 5), DType::float32);
  const Dataset streamed(source_of(whole.matrix()), 7);
  const auto backend = exact_backend();
  const std::vector<double> centroids = conformance::first_rows(conformance::cloud(100, 3, 5), 4);
  BackendSession expected(backend, whole, backend->default_parameters());
  BackendSession found(backend, streamed, backend->default_parameters(), 7);
  std::vector<std::int32_t> labels[2];
  std::vector<std::int64_t> counts[2];
  std::vector<double> distances[2];
  const LabelResult a = expected.label(centroids, 4, labels[0], counts[0], &distances[0]);
  const LabelResult b = found.label(centroids, 4, labels[1], counts[1], &distances[1]);
  EXPECT_EQ(labels[0], labels[1]);
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(distances[0], distances[1]);
  EXPECT_EQ(a.inertia, b.inertia);
  const LabelResult c = found.label(centroids, 4, labels[1], counts[1]);
  EXPECT_EQ(labels[0], labels[1]);
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(a.inertia, c.inertia);
}

}  // namespace
}  // namespace lloyd
