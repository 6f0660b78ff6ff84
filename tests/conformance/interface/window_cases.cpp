// WindowedPasses, if a backend declares kCapabilityRowWindows: passes over rows that are not in
// memory give results with the bits of passes over all rows, for any windows.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include <lloyd/plugin/abi/windowed_passes.hpp>

#include "conformance/interface/pass_trial.hpp"

namespace lloyd::conformance {
namespace {

// Hands out the rows of a data set in windows. Each window has memory of its own with no row to
// spare, which is freed when the next one begins; rows that are not loaded are NaN.
class TestWindows final : public RowWindows {
 public:
  // `sizes`: rows of the windows, repeated until all rows are covered.
  TestWindows(const Dataset& dataset, const std::vector<std::int64_t>& sizes)
      : view_(dataset.view()), sizes_(sizes) {}

  Status next(RowRange* rows, const void** data) noexcept override {
    if (window_.end == view_.samples) return misuse("next() after the last window");
    if (number_ == failing_window) return Status::error(StatusCode::device_error, "no disk");
    const std::int64_t size = sizes_[static_cast<std::size_t>(number_++) % sizes_.size()];
    window_ = {window_.end, std::min(window_.end + size, view_.samples)};
    values_ = std::make_unique<char[]>(static_cast<std::size_t>(bytes(window_.size())));
    std::memset(values_.get(), 0xff, static_cast<std::size_t>(bytes(window_.size())));
    *rows = window_;
    *data = values_.get();
    return {};
  }
  Status load(RowRange rows) noexcept override {
    if (rows.begin < window_.begin || rows.end > window_.end || rows.size() < 0) {
      return misuse("load() of rows outside of the window");
    }
    if (rows.begin <= failing_row && failing_row < rows.end) {
      return Status::error(StatusCode::device_error, "no disk");
    }
    std::memcpy(values_.get() + bytes(rows.begin - window_.begin),
                static_cast<const char*>(view_.data) + bytes(rows.begin),
                static_cast<std::size_t>(bytes(rows.size())));
    return {};
  }

  bool ended() const { return window_.end == view_.samples; }
  // What the session did wrong; null: nothing.
  const char* fault() const { return fault_; }

  std::int64_t failing_window = -1;
  std::int64_t failing_row = -1;

 private:
  std::int64_t bytes(std::int64_t rows) const { return rows * view_.stride * size_of(view_.dtype); }
  Status misuse(const char* what) {
    fault_ = what;
    return Status::error(StatusCode::invalid_argument, what);
  }

  DatasetView view_;
  const std::vector<std::int64_t>& sizes_;
  RowRange window_;
  std::int64_t number_ = 0;
  std::unique_ptr<char[]> values_;
  std::atomic<const char*> fault_{nullptr};
};

WindowedPasses& passes_of(Session& session) {
  auto* const offered = static_cast<WindowedPasses*>(session.query(kWindowedPasses));
  expect(offered != nullptr,
         "the backend declares kCapabilityRowWindows, but its session has no WindowedPasses");
  return *offered;
}

// PassKernels over windows.
class WindowedKernels final : public PassKernels {
 public:
  WindowedKernels(WindowedPasses& passes, const Dataset& dataset, std::vector<std::int64_t> sizes)
      : passes_(passes), dataset_(dataset), sizes_(std::move(sizes)) {}

  Status begin(const PassOptions& options) noexcept override { return passes_.begin(options); }
  Status pass(const PassRequest& request, Observer* observer,
              PassResult& result) noexcept override {
    return run(
        [&](RowWindows& windows) { return passes_.pass(request, windows, observer, result); });
  }
  Status farthest(std::int64_t wanted, Observer* observer, FarSample* samples,
                  std::int64_t* count) noexcept override {
    return run([&](RowWindows& windows) {
      return passes_.farthest(wanted, windows, observer, samples, count);
    });
  }
  Status labels(std::int32_t* labels) noexcept override { return passes_.labels(labels); }
  void end() noexcept override { passes_.end(); }

  std::int64_t failing_window = -1;
  std::int64_t failing_row = -1;

 private:
  template <class Pass>
  Status run(const Pass& pass) {
    TestWindows windows(dataset_, sizes_);
    windows.failing_window = failing_window;
    windows.failing_row = failing_row;
    const Status status = pass(windows);
    if (windows.fault() != nullptr) return Status::error(StatusCode::internal, windows.fault());
    if (status.ok() && !windows.ended()) {
      return Status::error(StatusCode::internal, "a pass ended before its last window");
    }
    return status;
  }

  WindowedPasses& passes_;
  const Dataset& dataset_;
  std::vector<std::int64_t> sizes_;
};

OwnedSession open_in_windows(const Context& context, const Dataset& dataset) {
  if ((context.info().capabilities & kCapabilityRowWindows) == 0) {
    throw CaseSkipped{"the backend does not read rows in windows"};
  }
  const std::string reason = context.beyond(dataset, kPassClusters);
  if (!reason.empty()) throw CaseSkipped{reason};
  DatasetView view = dataset.view();
  view.data = nullptr;
  view.required_capabilities |= kCapabilityRowWindows;
  Session* session = nullptr;
  const Status status = context.backend().open(view, context.parameters().list(), &session);
  return opened(status, session, "a data set in windows");
}

void sequence_in_windows(const Context& context) {
  std::vector<NamedSamples> data_sets = pass_data_sets(context);
  data_sets.push_back({"many features", rounded(cloud(900, 130, 96), context.dtype()), {4, 32}});
  for (const NamedSamples& data : data_sets) {
    const Dataset dataset = make_dataset(data.samples, context.dtype());
    const OwnedSession session = open_in_windows(context, dataset);
    const OwnedSession checking = context.open(dataset, kPassClusters);
    for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
             {data.samples.n}, {64}, {1024, 512}, {1, 63, 500, 7}}) {
      WindowedKernels kernels(passes_of(*session), dataset, sizes);
      check_pass_sequence(context, data, kernels, *checking);
    }
  }
}

// A source that fails ends the pass with its status. New passes give the same results.
void failing_windows(const Context& context) {
  const Samples samples = rounded(cloud(800, 3, 94), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = open_in_windows(context, dataset);
  WindowedKernels kernels(passes_of(*session), dataset, {256, 100});
  const SumLimbs limbs{4, 32};
  const std::vector<double> centroids = first_rows(samples, kPassClusters);
  const auto first_pass = [&] {
    begin(kernels, kPassClusters, limbs);
    Totals totals(limbs, kPassClusters, samples.d);
    run_pass(kernels, centroids, totals);
    return totals;
  };
  const Totals expected = first_pass();
  const std::vector<std::int32_t> labels = labels_of(kernels, samples.n);
  for (const auto& [window, row] :
       {std::pair<std::int64_t, std::int64_t>{0, -1}, {2, -1}, {-1, 0}, {-1, 355}, {-1, 799}}) {
    for (const bool in_first_pass : {true, false}) {
      if (in_first_pass) begin(kernels, kPassClusters, limbs);
      if (!in_first_pass) first_pass();
      kernels.failing_window = window;
      kernels.failing_row = row;
      PassRequest request;
      request.centroids = centroids.data();
      PassResult result;
      const Status status = kernels.pass(request, nullptr, result);
      expect(status.code == StatusCode::device_error,
             "a pass whose rows cannot be read: expected the status of the rows, got {}",
             status_message(status));
      kernels.failing_window = kernels.failing_row = -1;
      const Totals again = first_pass();
      if (!context.repeatable()) continue;
      expect_same_labels("after a pass that failed", labels, labels_of(kernels, samples.n));
      expect(again.sums == expected.sums && again.counts == expected.counts,
             "after a pass that failed, another pass has other sums");
    }
  }
}

struct StopLater final : Observer {
  bool on_iteration(const IterationRecord&) noexcept override { return true; }
  bool stop_requested() const noexcept override { return ++calls > 1; }
  void* query(const char*) noexcept override { return nullptr; }
  mutable std::atomic<int> calls{0};
};

// A session without samples in memory refuses what reads them, passes can be cancelled, and calls
// out of order are refused.
void order_in_windows(const Context& context) {
  const Samples samples = rounded(cloud(800, 3, 94), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = open_in_windows(context, dataset);
  WindowedKernels kernels(passes_of(*session), dataset, {64});
  const std::vector<double> centroids = first_rows(samples, kPassClusters);
  const auto unsupported = [](const char* what, const Status& status) {
    expect(status.code == StatusCode::unsupported,
           "{} without samples in memory: expected unsupported, got {}", what,
           status_message(status));
  };
  Setting setting;
  setting.clusters = kPassClusters;
  setting.centroids = centroids;
  unsupported("fit()", run_fit(*session, samples, setting).status);
  unsupported("label()", run_label(*session, samples, centroids).status);
  PartialRequest request;
  request.centroids = centroids.data();
  request.clusters = kPassClusters;
  request.rows = {0, 10};
  PartialResult partial;
  unsupported("partial()", session->partial(request, nullptr, partial));

  std::vector<std::int32_t> labels(samples.n);
  PassRequest pass;
  pass.centroids = centroids.data();
  PassResult result;
  const auto refused = [](const char* when, const Status& status) {
    expect(status.code == StatusCode::invalid_argument, "{}: expected invalid_argument, got {}",
           when, status_message(status));
  };
  kernels.end();
  refused("pass() before begin()", kernels.pass(pass, nullptr, result));
  refused("labels() before begin()", kernels.labels(labels.data()));
  begin(kernels, kPassClusters, {4, 32});
  refused("labels() before a pass", kernels.labels(labels.data()));
  begin(kernels, kPassClusters, {4, 32});
  StopLater stop;
  const Status cancelled = kernels.pass(pass, &stop, result);
  expect(cancelled.code == StatusCode::cancelled, "a cancelled pass: expected cancelled, got {}",
         status_message(cancelled));
  begin(kernels, kPassClusters, {4, 32});
  expect_ok("pass() after a cancelled one", kernels.pass(pass, nullptr, result));
  expect(result.changed == samples.n, "the first pass changed {} labels of {}", result.changed,
         samples.n);
}

}  // namespace

void add_window_cases(std::vector<Case>& cases) {
  cases.push_back({"windows/sequence", Scope::variants, sequence_in_windows});
  cases.push_back({"windows/failures", Scope::defaults, failing_windows});
  cases.push_back({"windows/order", Scope::defaults, order_in_windows});
}

}  // namespace lloyd::conformance
