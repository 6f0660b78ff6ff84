#include "streamed_session.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <lloyd/error.hpp>
#include <lloyd/plugin/farthest_samples.hpp>
#include <lloyd/plugin/guard.hpp>
#include <lloyd/plugin/iteration_rules.hpp>

#include "elapsed.hpp"
#include "handed_values.hpp"
#include "partial_check.hpp"
#include "session_notes.hpp"
#include "status_error.hpp"

namespace lloyd {
namespace {

using Clock = std::chrono::steady_clock;

struct ReleaseSession {
  void operator()(Session* session) const { session->release(); }
};

// The caller's labels, or room of our own, without former labels.
class Labels {
 public:
  Labels(std::int32_t* wanted, std::int64_t rows) : labels_(wanted) {
    if (wanted == nullptr) own_.resize(static_cast<std::size_t>(rows));
    if (wanted == nullptr) labels_ = own_.data();
    std::fill_n(labels_, rows, -1);
  }
  std::int32_t* data() const { return labels_; }

 private:
  std::int32_t* labels_;
  std::vector<std::int32_t> own_;
};

}  // namespace

StreamedSession::StreamedSession(std::shared_ptr<const LoadedBackend> backend,
                                 const Dataset& dataset, const ParameterSet& parameters,
                                 std::int64_t block_rows)
    : backend_(std::move(backend)),
      dataset_(dataset),
      parameters_(parameters),
      plan_(SumPlan::make(dataset.view())),
      blocks_(*dataset.source(), block_rows),
      seeding_(dataset, [this](Observer* observer, const StreamedSeeding::Body& body) {
        for_each_session({0, dataset_.samples()}, observer, body);
      }) {}

Status StreamedSession::fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept {
  notes_.clear();
  return guarded([&] { keep_failure([&] { fit_rows(spec, observer, result); }); });
}

Status StreamedSession::label(const LabelRequest& request, Observer* observer,
                              LabelResult& result) noexcept {
  notes_.clear();
  return guarded([&] { keep_failure([&] { label_rows(request, observer, result); }); });
}

Status StreamedSession::partial(const PartialRequest& request, Observer* observer,
                                PartialResult& result) noexcept {
  notes_.clear();
  return guarded([&] { keep_failure([&] { partial_rows(request, observer, result); }); });
}

void StreamedSession::keep_failure(const std::function<void()>& body) {
  failure_ = nullptr;
  try {
    body();
  } catch (const InputError&) {
    failure_ = std::current_exception();
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
    const std::unique_ptr<Session, ReleaseSession> session(opened);
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

void StreamedSession::fit_rows(const FitSpec& spec, Observer* observer, FitResult& result) {
  const Labels labels(result.labels, dataset_.samples());
  const std::int64_t cells = spec.clusters * dataset_.features();
  std::vector<double> centroids(spec.initial_centroids, spec.initial_centroids + cells);
  result.sum_form = plan_.form;
  result.valid = 0;
  result.iterations = result.relocations = result.distances = 0;
  result.phases = {};
  const auto publish_centroids = [&] {
    if (result.centroids == nullptr) return;
    std::copy(centroids.begin(), centroids.end(), result.centroids);
    result.valid |= kValidCentroids;
  };
  const Clock::time_point start = Clock::now();
  try {
    std::vector<SumWords> sums(centroids.size());
    iterate(spec, observer, labels.data(), centroids, sums, result);
    result.loop_ms = milliseconds_since(start);
    const Clock::time_point closing = Clock::now();
    LabelRequest request;
    request.centroids = centroids.data();
    request.clusters = spec.clusters;
    LabelResult closed;
    closed.labels = labels.data();
    closed.counts = result.counts;
    // The last sums are held to the definition on the way: each block has the labels that they are
    // of until it is labelled anew.
    ClusterSums expected(plan_, spec.clusters);
    double check_ms = 0;
    label_rows(request, observer, closed, [&](RowRange rows, const void* data) {
      const Clock::time_point checking = Clock::now();
      add_rows(rows, data, labels.data(), expected);
      std::fill(labels.data() + rows.begin, labels.data() + rows.end, -1);
      check_ms += milliseconds_since(checking);
    });
    const Clock::time_point checking = Clock::now();
    check_sums(plan_, dataset_.statistics().data(), sums, expected);
    check_ms += milliseconds_since(checking);
    result.inertia = closed.inertia;
    result.valid = closed.valid & ~(result.labels == nullptr ? kValidLabels : 0u);
    result.distances += dataset_.samples() * spec.clusters;
    result.closing_ms = milliseconds_since(closing) - check_ms;
    publish_centroids();
  } catch (const StatusError& error) {
    if (error.status().code == StatusCode::cancelled) {
      result.valid = 0;
      result.stop_reason = StopReason::cancelled;
      publish_centroids();
    }
    throw;
  }
}

void StreamedSession::iterate(const FitSpec& spec, Observer* observer, std::int32_t* labels,
                              std::vector<double>& centroids, std::vector<SumWords>& words,
                              FitResult& result) {
  const std::int64_t n = dataset_.samples();
  const Clock::time_point start = Clock::now();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(spec.clusters));
  if (spec.profile != 0) result.phases = {0, 0, 0, 0};
  for (;;) {
    std::fill(words.begin(), words.end(), SumWords{});
    std::fill(counts.begin(), counts.end(), 0);
    ExactSum inertia;
    PartialRequest request;
    request.centroids = centroids.data();
    request.clusters = spec.clusters;
    request.rows = {0, n};
    PartialResult pass;
    pass.labels = labels;
    pass.sums = words.data();
    pass.counts = counts.data();
    pass.inertia = &inertia;
    const Clock::time_point assigning = Clock::now();
    partial_rows(request, observer, pass);
    result.distances += n * spec.clusters;
    const Clock::time_point updating = Clock::now();

    check_means(plan_, dataset_.statistics().data(), words, counts);
    ClusterSums sums(plan_, spec.clusters);
    sums.load(words.data(), counts.data());
    IterationRecord record;
    record.relocations = relocate(spec, observer, centroids, labels, sums, result.iterations + 1);
    std::vector<double> next = next_centroids(sums, centroids, dataset_.features());
    const Clock::time_point checking = Clock::now();
    record.shift = squared_shift(centroids, next);
    centroids.swap(next);
    result.relocations += record.relocations;
    record.iteration = ++result.iterations;
    record.changed = pass.changed;
    result.stop_reason = stop_reason(spec, record);
    if (spec.profile != 0) {
      const auto milliseconds = [](Clock::duration duration) {
        return std::chrono::duration<double, std::milli>(duration).count();
      };
      result.phases.assignment_ms += milliseconds(updating - assigning);
      result.phases.update_ms += milliseconds(checking - updating);
      result.phases.convergence_ms += milliseconds(Clock::now() - checking);
    }
    if (observer != nullptr && spec.observe != 0) {
      record.elapsed_ms = milliseconds_since(start);
      if ((spec.observe & kObserveInertia) != 0) record.inertia = inertia.value();
      if ((spec.observe & kObserveLabels) != 0) record.labels = labels;
      if ((spec.observe & kObserveCentroids) != 0) record.centroids = centroids.data();
      if (!observer->on_iteration(record)) {
        throw_cancelled();
      }
    }
    if (result.stop_reason != StopReason::none) return;
  }
}

// Applies the policy to clusters without samples. Returns how many were moved.
std::int64_t StreamedSession::relocate(const FitSpec& spec, Observer* observer,
                                       const std::vector<double>& centroids, std::int32_t* labels,
                                       ClusterSums& sums, std::int64_t iteration) {
  const std::vector<std::int32_t> empty = empty_clusters(sums);
  if (empty.empty() || spec.empty_clusters == EmptyClusters::keep) return 0;
  if (spec.empty_clusters == EmptyClusters::error) throw_empty_cluster(empty.front(), iteration);

  std::vector<FarSample> farthest(static_cast<std::size_t>(spec.clusters));
  PartialRequest request;
  request.centroids = centroids.data();
  request.clusters = spec.clusters;
  request.rows = {0, dataset_.samples()};
  request.farthest_wanted = spec.clusters;
  PartialResult pass;
  pass.labels = labels;  // the same once more
  pass.farthest = farthest.data();
  partial_rows(request, observer, pass);
  farthest.resize(static_cast<std::size_t>(pass.farthest_count));

  const std::vector<Relocation> moves = choose_relocations(empty, farthest, sums);
  if (plan_.is_integer()) {
    for (const auto& [sample, to] : moves) {
      sums.move(dataset_.sample(sample.row).data(), sample.label, to);
    }
  } else {
    // Taking a large value out of a compensated sum would lose the small ones: sum again.
    for (const auto& [sample, to] : moves) labels[sample.row] = to;
    sum_again(labels, sums);
    for (const auto& [sample, to] : moves) labels[sample.row] = sample.label;
  }
  return static_cast<std::int64_t>(moves.size());
}

void StreamedSession::sum_again(const std::int32_t* labels, ClusterSums& sums) {
  sums.clear();
  blocks_.for_each({0, dataset_.samples()},
                   [&](RowRange rows, const void* data) { add_rows(rows, data, labels, sums); });
}

void StreamedSession::add_rows(RowRange rows, const void* data, const std::int32_t* labels,
                               ClusterSums& sums) const {
  const std::int64_t d = dataset_.features();
  if (dataset_.dtype() == DType::float32) {
    sums.add(static_cast<const float*>(data), d, rows.size(), labels + rows.begin);
  } else {
    sums.add(static_cast<const double*>(data), d, rows.size(), labels + rows.begin);
  }
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
