#include "fit/streamed_session.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/farthest_samples.hpp>
#include <lloyd/plugin/sdk/fit_driver.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

#include "fit/elapsed.hpp"
#include "fit/row_sums.hpp"
#include "fit/windowed_fit.hpp"
#include "session/handed_values.hpp"
#include "session/partial_check.hpp"
#include "session/session_notes.hpp"
#include "session/session_pointer.hpp"
#include "session/status_error.hpp"
#include "session/sum_checks.hpp"

namespace lloyd {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

class StreamedSession::Passes final : public HostFitPasses {
 public:
  // All arguments must outlive the passes.
  Passes(StreamedSession& session, const FitSpec& spec, Observer* observer, FitResult& result)
      : HostFitPasses(spec, session.dataset_.features()),
        session_(session),
        observer_(observer),
        clusters_(spec.clusters),
        mean_check_(session.plan_, session.dataset_.statistics().data()),
        labels_(result.labels),
        words_(static_cast<std::size_t>(spec.clusters * session.dataset_.features())),
        counts_(static_cast<std::size_t>(spec.clusters)) {
    const std::int64_t n = session.dataset_.samples();
    if (labels_ == nullptr) own_labels_.resize(static_cast<std::size_t>(n));
    if (labels_ == nullptr) labels_ = own_labels_.data();
    std::fill_n(labels_, n, -1);
  }

  void assign() override {
    sums_.reset();  // the memory plan does not count them during a pass
    std::fill(words_.begin(), words_.end(), SumWords{});
    std::fill(counts_.begin(), counts_.end(), 0);
    inertia_ = {};
    PartialResult pass;
    pass.labels = labels_;
    pass.sums = words_.data();
    pass.counts = counts_.data();
    pass.inertia = &inertia_;
    session_.partial_rows(request(), observer_, pass);
    changed_ = pass.changed;
    distances_ += session_.dataset_.samples() * clusters_;
  }

  double inertia() override { return inertia_.value(); }
  const std::int32_t* labels() override { return labels_; }

  void close(FitResult& result) override {
    sums_.reset();
    LabelRequest request;
    request.centroids = centroids().data();
    request.clusters = clusters_;
    LabelResult closed;
    closed.labels = labels_;
    closed.counts = result.counts;
    // The last sums are compared with the samples on the way: each block has the labels that they
    // are of until it is labelled anew.
    ClusterSums expected(session_.plan_, clusters_);
    session_.label_rows(request, observer_, closed, [&](RowRange rows, const void* data) {
      const Clock::time_point checking = Clock::now();
      add_rows(session_.dataset_, rows, data, labels_, expected);
      std::fill(labels_ + rows.begin, labels_ + rows.end, -1);
      check_ms_ += milliseconds_since(checking);
    });
    const Clock::time_point checking = Clock::now();
    check_sums(session_.plan_, session_.dataset_.statistics().data(), words_, expected);
    check_ms_ += milliseconds_since(checking);
    distances_ += session_.dataset_.samples() * clusters_;
    result.inertia = closed.inertia;
    result.valid = closed.valid & ~(result.labels == nullptr ? kValidLabels : 0u);
  }

  void report(FitResult& result) override {
    result.distances = distances_;
    result.closing_ms -= check_ms_;
  }

  std::vector<FarSample> find_farthest(std::int64_t wanted) override {
    std::vector<FarSample> farthest(static_cast<std::size_t>(wanted));
    PartialRequest far = request();
    far.farthest_wanted = wanted;
    PartialResult pass;
    pass.labels = labels_;  // the same once more
    pass.farthest = farthest.data();
    session_.partial_rows(far, observer_, pass);
    farthest.resize(static_cast<std::size_t>(pass.farthest_count));
    return farthest;
  }

  void move_sample(const Relocation& relocation, ClusterSums& sums) override {
    const FarSample& sample = relocation.sample;
    sums.move(session_.dataset_.sample(sample.row).data(), sample.label, relocation.to);
  }

  void recompute_sums(const std::vector<Relocation>& relocations, ClusterSums& sums) override {
    with_relocated_labels(relocations, labels_, [&] {
      sums.clear();
      session_.blocks_.for_each([&](RowRange rows, const void* data) {
        add_rows(session_.dataset_, rows, data, labels_, sums);
      });
    });
  }

 protected:
  ClusterSums& sum_labels() override {
    mean_check_.check_before_relocation(words_, counts_);
    if (!sums_) sums_.emplace(session_.plan_, clusters_);
    sums_->load(words_.data(), counts_.data());
    return *sums_;
  }
  void check_new_centroids() override { mean_check_.check_means(centroids(), words_, counts_); }
  std::int64_t changed() const override { return changed_; }

 private:
  // One of all rows by the current centroids.
  PartialRequest request() {
    PartialRequest request;
    request.centroids = centroids().data();
    request.clusters = clusters_;
    request.rows = {0, session_.dataset_.samples()};
    return request;
  }

  StreamedSession& session_;
  Observer* observer_;
  std::int64_t clusters_;
  MeanCheck mean_check_;
  std::int32_t* labels_;  // n: the caller's, or own ones where they are not wanted
  std::vector<std::int32_t> own_labels_;
  std::vector<SumWords> words_;       // of the last assignment, as are the next three
  std::vector<std::int64_t> counts_;  // samples per cluster
  ExactSum inertia_;
  std::int64_t changed_ = 0;
  std::optional<ClusterSums> sums_;
  std::int64_t distances_ = 0;
  double check_ms_ = 0;  // part of the closing assignment that is not the backend's
};

StreamedSession::StreamedSession(std::shared_ptr<const LoadedBackend> backend,
                                 const Dataset& dataset, const ParameterSet& parameters,
                                 std::int64_t block_rows, std::int64_t window_rows)
    : backend_(std::move(backend)),
      dataset_(dataset),
      parameters_(parameters),
      plan_(SumPlan::make(dataset.view())),
      blocks_(*dataset.source(), block_rows),
      seeding_(dataset, [this](Observer* observer, const StreamedSeeding::Body& body) {
        keep_failure([&] { for_each_session({0, dataset_.samples()}, observer, body); });
      }) {
  const bool has_windows = (backend_->info().capabilities & kCapabilityRowWindows) != 0;
  if (window_rows == 0 || !has_windows || !plan_.is_integer()) return;
  passes_.emplace(
      backend_, dataset_, parameters_, window_rows,
      [this](const std::function<void()>& body) {
        blocks_.release();
        keep_failure(body);
      },
      notes_);
}

Status StreamedSession::fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept {
  notes_.clear();
  return guarded([&] {
    keep_failure([&] {
      result.sum_form = plan_.form;
      if (passes_) {
        WindowedFit passes(*this, *passes_, dataset_, plan_, spec, observer, result);
        drive_fit(spec, observer, passes, result);
        return;
      }
      Passes passes(*this, spec, observer, result);
      drive_fit(spec, observer, passes, result);
    });
  });
}

Status StreamedSession::label(const LabelRequest& request, Observer* observer,
                              LabelResult& result) noexcept {
  if (passes_) passes_->end();
  notes_.clear();
  return guarded([&] { keep_failure([&] { label_rows(request, observer, result); }); });
}

Status StreamedSession::partial(const PartialRequest& request, Observer* observer,
                                PartialResult& result) noexcept {
  if (passes_) passes_->end();
  notes_.clear();
  return guarded([&] { keep_failure([&] { partial_rows(request, observer, result); }); });
}

void StreamedSession::keep_failure(const std::function<void()>& body) {
  failure_ = nullptr;
  try {
    body();
  } catch (const Error& error) {
    if (dynamic_cast<const BackendError*>(&error) == nullptr) failure_ = std::current_exception();
    throw;
  }
}

void StreamedSession::rethrow_failure() const {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void* StreamedSession::query(const char* interface_name) noexcept {
  const std::string_view name = interface_name;
  if (name == kSeedingKernels) return static_cast<SeedingKernels*>(&seeding_);
  if (name == kSessionNotes) return static_cast<SessionNotes*>(this);
  if (name == kPassKernels && passes_) return static_cast<PassKernels*>(&*passes_);
  return nullptr;
}

void StreamedSession::for_each_session(RowRange rows, Observer* observer,
                                       const StreamedSeeding::Body& body) {
  blocks_.for_each(rows, [&](RowRange block, const void* data) {
    if (observer != nullptr && observer->stop_requested()) {
      throw_cancelled();
    }
    DatasetView view = dataset_.view();
    view.data = data;
    view.samples = block.size();
    Session* opened = nullptr;
    throw_if_error(backend_->backend().open(view, parameters_.list(), &opened));
    if (opened == nullptr) throw StatusError(StatusCode::internal, "open returned no session");
    const SessionPointer session(opened);
    body(block, *session, data);
  });
}

void StreamedSession::partial_rows(const PartialRequest& request, Observer* observer,
                                   PartialResult& result, const BlockBody& before) {
  const std::int64_t wanted =
      result.farthest == nullptr
          ? 0
          : std::clamp<std::int64_t>(request.farthest_wanted, 0, request.rows.size());
  FarthestSamples farthest(wanted);
  std::vector<FarSample> found(static_cast<std::size_t>(wanted));
  const auto cells = static_cast<std::size_t>(request.clusters * dataset_.features());
  const HandedValues handed({request.centroids, cells});
  result.changed = 0;
  result.sum_form = plan_.form;
  for_each_session(request.rows, observer, [&](RowRange block, Session& session, const void* data) {
    if (before) before(block, data);
    PartialRequest part = request;
    part.rows = {0, block.size()};
    part.centroids = handed.data();
    PartialResult parts;
    parts.labels =
        result.labels == nullptr ? nullptr : result.labels + (block.begin - request.rows.begin);
    parts.sums = result.sums;
    parts.counts = result.counts;
    parts.inertia = result.inertia;
    parts.farthest = wanted > 0 ? found.data() : nullptr;
    part.farthest_wanted = wanted;
    const PartialCheck check(part, parts);
    throw_if_error(session.partial(part, observer, parts));
    parts.farthest = found.data();
    check.check(parts);
    if (parts.sum_form != plan_.form) {
      throw StatusError(StatusCode::internal, "a partial pass returned sums of another form");
    }
    if (block.begin == request.rows.begin && (result.sums != nullptr || notes_.empty())) {
      notes_ = session_notes(session);
    }
    result.changed += parts.changed;
    for (std::int64_t i = 0; i < parts.farthest_count; ++i) {
      FarSample sample = found[static_cast<std::size_t>(i)];
      sample.row += block.begin;
      farthest.add(sample);
    }
  });
  if (handed.changed()) throw StatusError(StatusCode::internal, changed_input_text("centroids"));
  const std::vector<FarSample> sorted = farthest.sorted();
  std::copy(sorted.begin(), sorted.end(), result.farthest);
  result.farthest_count = static_cast<std::int64_t>(sorted.size());
}

void StreamedSession::label_rows(const LabelRequest& request, Observer* observer,
                                 LabelResult& result, const BlockBody& before) {
  const std::int64_t n = dataset_.samples();
  const Clock::time_point start = Clock::now();
  result.valid = 0;
  if (result.counts != nullptr) std::fill_n(result.counts, request.clusters, 0);
  ExactSum inertia;
  if (result.squared_distances == nullptr) {
    PartialRequest all;
    all.required_capabilities = request.required_capabilities;
    all.centroids = request.centroids;
    all.clusters = request.clusters;
    all.rows = {0, n};
    PartialResult pass;
    pass.labels = result.labels;
    if (pass.labels != nullptr && !before) std::fill_n(pass.labels, n, -1);
    pass.counts = result.counts;
    pass.inertia = &inertia;
    partial_rows(all, observer, pass, before);
  } else {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(request.clusters));
    for_each_session({0, n}, observer, [&](RowRange block, Session& session, const void*) {
      LabelResult part;
      part.labels = result.labels == nullptr ? nullptr : result.labels + block.begin;
      part.counts = counts.data();
      part.squared_distances = result.squared_distances + block.begin;
      throw_if_error(session.label(request, observer, part));
      if (block.begin == 0) notes_ = session_notes(session);
      for (std::int64_t i = 0; i < block.size(); ++i) inertia.add(part.squared_distances[i]);
      for (std::size_t c = 0; result.counts != nullptr && c < counts.size(); ++c) {
        result.counts[c] += counts[c];
      }
    });
  }
  result.inertia = inertia.value();
  result.valid = kValidInertia | (result.labels != nullptr ? kValidLabels : 0u) |
                 (result.counts != nullptr ? kValidCounts : 0u);
  result.label_ms = milliseconds_since(start);
}

}  // namespace lloyd
