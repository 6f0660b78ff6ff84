// Passes of LloydLoop over rows that come in windows: the bits of passes over rows in memory.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>

namespace lloyd {
namespace {

template <class T>
struct WindowStep : RowStep<WindowStep<T>, T> {
  using RowStep<WindowStep<T>, T>::RowStep;
  std::int32_t label(const T* x) const {
    return nearest_centroid(x, this->centroids, this->clusters, this->dataset.features).label;
  }
};
static_assert(ReadsRowWindows<WindowStep<float>>);

// Reports label changes and uses several workers.
template <class T>
struct ReportingStep : RowStep<ReportingStep<T>, T> {
  using Base = RowStep<ReportingStep<T>, T>;
  using Base::assign;
  using Base::Base;
  std::int32_t label(const T* x) const {
    return nearest_centroid(x, this->centroids, this->clusters, this->dataset.features).label;
  }
  std::int64_t assign(RowRange block, std::int32_t* labels, LabelChangeSums<T>& changes) {
    const std::vector<std::int32_t> former(labels, labels + block.size());
    const std::int64_t changed = Base::assign(block, labels);
    for (std::int64_t i = 0; i < block.size(); ++i) {
      const std::int32_t from = former[static_cast<std::size_t>(i)];
      if (labels[i] != from) changes.add(block.begin + i, from, labels[i]);
    }
    return changed;
  }
  int workers() const { return 3; }
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) const {
    constexpr std::int64_t kRows = 5;
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += kRows) {
      body(static_cast<int>(begin % 3), RowRange{begin, std::min(begin + kRows, rows.end)});
    }
  }
};
static_assert(ReportsLabelChanges<ReportingStep<double>>);

constexpr BackendInfo with_windows(BackendInfo info) {
  info.capabilities |= kCapabilityRowWindows;
  return info;
}
constexpr BackendInfo kWindowInfo = with_windows(exact_step_info("windows"));
constexpr BackendInfo kPlainInfo = exact_step_info("no windows");

// Windows in memory of their own, of random sizes if there is a generator.
class UnitWindows final : public RowWindows {
 public:
  UnitWindows(const Dataset& dataset, std::mt19937* random)
      : view_(dataset.view()), random_(random) {}

  Status next(RowRange* rows, const void** data) noexcept override {
    if (++windows_ == failing_window) return Status::error(StatusCode::device_error, "no next");
    const std::int64_t left = view_.samples - window_.end;
    const std::int64_t size =
        random_ == nullptr ? left : std::uniform_int_distribution<std::int64_t>(1, left)(*random_);
    window_ = {window_.end + gap, window_.end + gap + size};
    values_.reset(new char[static_cast<std::size_t>(bytes(size))]);
    *rows = window_;
    *data = values_.get();
    return {};
  }
  Status load(RowRange rows) noexcept override {
    if (++loads_ == failing_load) return Status::error(StatusCode::device_error, "no load");
    std::memcpy(values_.get() + bytes(rows.begin - window_.begin),
                static_cast<const char*>(view_.data) + bytes(rows.begin),
                static_cast<std::size_t>(bytes(rows.size())));
    return {};
  }

  std::int64_t failing_window = 0;  // 1, 2, ...
  std::int64_t failing_load = 0;
  std::int64_t gap = 0;  // rows that are left out before each window

 private:
  std::int64_t bytes(std::int64_t rows) const { return rows * view_.stride * size_of(view_.dtype); }

  DatasetView view_;
  std::mt19937* random_;
  RowRange window_;
  std::int64_t windows_ = 0;
  std::int64_t loads_ = 0;
  std::unique_ptr<char[]> values_;
};

template <class T>
Dataset random_samples(std::int64_t n, std::int64_t d, std::mt19937& random) {
  std::vector<T> values;
  std::uniform_int_distribution<int> digits(-50, 50);
  for (std::int64_t i = 0; i < n * d; ++i) values.push_back(static_cast<T>(digits(random)) / 8);
  return Dataset("samples", Matrix::from_values(std::move(values), n, d));
}

DatasetView without_data(const Dataset& dataset) {
  DatasetView view = dataset.view();
  view.data = nullptr;
  view.required_capabilities |= kCapabilityRowWindows;
  return view;
}

template <class S>
void expect_same_passes(const Dataset& dataset, std::int64_t clusters, std::mt19937& random) {
  const std::int64_t n = dataset.samples();
  const std::int64_t d = dataset.features();
  S whole_step(dataset.view(), {});
  S step(without_data(dataset), {});
  LloydLoop<S> whole(whole_step, dataset.view());
  LloydLoop<S> loop(step, without_data(dataset));
  PassOptions options;
  options.clusters = clusters;
  whole.begin_passes(options);
  loop.begin_passes(options);
  std::uniform_int_distribution<int> digits(-50, 50);
  for (int pass = 0; pass < 4; ++pass) {
    std::vector<double> centroids;
    for (std::int64_t i = 0; i < clusters * d; ++i) centroids.push_back(digits(random) / 8.0);
    std::vector<std::int64_t> sums[2], counts[2];
    ExactSum inertia[2];
    PassResult results[2];
    for (int kind = 0; kind < 2; ++kind) {
      sums[kind].resize(static_cast<std::size_t>(clusters * d));
      counts[kind].resize(static_cast<std::size_t>(clusters));
      PassRequest request;
      request.centroids = centroids.data();
      request.sums = sums[kind].data();
      request.counts = counts[kind].data();
      request.inertia = pass % 2 == 0 ? &inertia[kind] : nullptr;
      UnitWindows windows(dataset, &random);
      if (kind == 0) whole.pass(request, nullptr, results[kind]);
      if (kind == 1) loop.pass(request, nullptr, results[kind], &windows);
    }
    EXPECT_EQ(sums[0], sums[1]);
    EXPECT_EQ(counts[0], counts[1]);
    EXPECT_EQ(inertia[0].value(), inertia[1].value());
    EXPECT_EQ(results[0].changed, results[1].changed);
    EXPECT_EQ(results[0].distances, results[1].distances);
    std::vector<std::int32_t> labels[2];
    for (std::vector<std::int32_t>& array : labels) array.resize(static_cast<std::size_t>(n));
    whole.pass_labels(labels[0].data());
    loop.pass_labels(labels[1].data());
    EXPECT_EQ(labels[0], labels[1]);
    std::vector<FarSample> far[2];
    for (std::vector<FarSample>& array : far) array.resize(7);
    UnitWindows windows(dataset, &random);
    far[0].resize(static_cast<std::size_t>(whole.farthest(7, nullptr, far[0].data())));
    far[1].resize(static_cast<std::size_t>(loop.farthest(7, nullptr, far[1].data(), &windows)));
    ASSERT_EQ(far[0].size(), far[1].size());
    for (std::size_t i = 0; i < far[0].size(); ++i) {
      EXPECT_EQ(far[0][i].row, far[1][i].row);
      EXPECT_EQ(far[0][i].squared_distance, far[1][i].squared_distance);
      EXPECT_EQ(far[0][i].label, far[1][i].label);
    }
  }
}

TEST(WindowedPasses, HaveTheBitsOfPassesInMemory) {
  std::mt19937 random(1);
  for (const auto& [n, d, k] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{100, 3, 5},
                                {1, 1, 1},
                                {3, 2, 8},  // more clusters than samples
                                {1000, 1, 2}}) {
    const Dataset narrow = random_samples<float>(n, d, random);
    const Dataset wide = random_samples<double>(n, d, random);
    expect_same_passes<WindowStep<float>>(narrow, k, random);
    expect_same_passes<WindowStep<double>>(wide, k, random);
    expect_same_passes<ReportingStep<float>>(narrow, k, random);
    expect_same_passes<ReportingStep<double>>(wide, k, random);
  }
}

class WindowedSessions : public testing::Test {
 protected:
  WindowedSessions() {
    EXPECT_TRUE(backend_.open(without_data(dataset_), {}, &session_).ok());
    passes_ = static_cast<WindowedPasses*>(session_->query(kWindowedPasses));
    request_.centroids = centroids_.data();
  }
  ~WindowedSessions() override { session_->release(); }

  Status begin() {
    PassOptions options;
    options.clusters = 2;
    return passes_->begin(options);
  }
  Status pass(UnitWindows& windows) { return passes_->pass(request_, windows, nullptr, result_); }

  std::mt19937 random_{2};
  const Dataset dataset_ = random_samples<double>(20000, 2, random_);
  const std::vector<double> centroids_{0, 0, 1, 1};
  StepBackend<WindowStep, kWindowInfo> backend_;
  Session* session_ = nullptr;
  WindowedPasses* passes_ = nullptr;
  PassRequest request_;
  PassResult result_;
};

TEST_F(WindowedSessions, ReturnTheStatusOfTheRows) {
  for (const std::int64_t failing : {1, 2}) {
    ASSERT_TRUE(begin().ok());
    UnitWindows windows(dataset_, nullptr);
    (failing == 1 ? windows.failing_window : windows.failing_load) = failing;
    const Status status = pass(windows);
    EXPECT_EQ(status.code, StatusCode::device_error);
    EXPECT_STREQ(status.message, failing == 1 ? "no next" : "no load");
    UnitWindows others(dataset_, nullptr);
    EXPECT_EQ(pass(others).code, StatusCode::invalid_argument);  // the passes have ended
  }
}

TEST_F(WindowedSessions, RefuseWindowsThatLeaveRowsOut) {
  ASSERT_TRUE(begin().ok());
  UnitWindows windows(dataset_, &random_);
  windows.gap = 3;
  const Status status = pass(windows);
  EXPECT_EQ(status.code, StatusCode::invalid_argument);
  EXPECT_NE(std::string(status.message).find("but those before it end at 0 of 20000"),
            std::string::npos)
      << status.message;
}

TEST_F(WindowedSessions, ServeOnlyPasses) {
  EXPECT_EQ(session_->query(kPassKernels), nullptr);
  EXPECT_EQ(session_->query(kSeedingKernels), nullptr);
  FitSpec spec;
  spec.clusters = 2;
  spec.initial_centroids = centroids_.data();
  spec.max_iterations = 1;
  FitResult fit;
  EXPECT_EQ(session_->fit(spec, nullptr, fit).code, StatusCode::unsupported);
  LabelRequest request;
  request.centroids = centroids_.data();
  request.clusters = 2;
  LabelResult labels;
  EXPECT_EQ(session_->label(request, nullptr, labels).code, StatusCode::unsupported);
  Session* in_memory = nullptr;
  ASSERT_TRUE(backend_.open(dataset_.view(), {}, &in_memory).ok());
  EXPECT_EQ(in_memory->query(kWindowedPasses), nullptr);
  in_memory->release();
}

TEST(WindowedPasses, NeedTheCapability) {
  std::mt19937 random(3);
  const Dataset dataset = random_samples<double>(4, 1, random);
  StepBackend<WindowStep, kPlainInfo> backend;
  Session* session = nullptr;
  const Status status = backend.open(without_data(dataset), {}, &session);
  EXPECT_EQ(status.code, StatusCode::unsupported);
  EXPECT_STREQ(status.message, "the backend does not read rows in windows");
  EXPECT_EQ(session, nullptr);
}

// A step that goes wrong in the second window.
struct WrongStep : RowStep<WrongStep, double> {
  using RowStep::RowStep;
  std::int32_t label(const double*) const { return bad_label && moves == 2 ? kClustersEnd : 0; }
  void use_samples(const void* data, RowRange window) {
    RowStep::use_samples(data, window);
    ++moves;
  }
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) const {
    const std::int64_t begin = bad_block && moves == 2 ? 0 : rows.begin;
    body(0, RowRange{begin, missing_row && moves == 2 ? rows.end - 1 : rows.end});
  }
  static constexpr std::int32_t kClustersEnd = 2;
  bool bad_label = false;
  bool bad_block = false;
  bool missing_row = false;
  int moves = 0;
};

TEST(WindowedPasses, CheckTheBlocksAndLabelsOfEachWindow) {
  std::mt19937 random(4);
  const Dataset dataset = random_samples<double>(100, 1, random);
  const std::vector<double> centroids{0, 1};
  const auto message = [&](bool WrongStep::*fault) {
    WrongStep step(without_data(dataset), {});
    step.*fault = true;
    LloydLoop<WrongStep> loop(step, without_data(dataset));
    PassOptions options;
    options.clusters = 2;
    loop.begin_passes(options);
    std::mt19937 sizes(5);
    UnitWindows windows(dataset, &sizes);
    PassRequest request;
    request.centroids = centroids.data();
    PassResult result;
    try {
      loop.pass(request, nullptr, result, &windows);
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status().code, StatusCode::internal);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(&WrongStep::bad_label).find(" the label 2, which is not in [0, 2)"),
            std::string::npos);
  EXPECT_NE(message(&WrongStep::bad_block).find("which is not within its rows ["),
            std::string::npos);
  EXPECT_NE(message(&WrongStep::missing_row).find("rows must be in one block"), std::string::npos);
}

}  // namespace
}  // namespace lloyd
