#include "conformance/support/trial.hpp"

#include <algorithm>

#include <lloyd/internal/plugin_struct.hpp>

namespace lloyd::conformance {

bool Recorder::on_iteration(const IterationRecord& record) noexcept {
  Observed observed;
  observed.record = host_copy(&record);
  observed.record.labels = nullptr;
  observed.record.centroids = nullptr;
  if (record.labels != nullptr) observed.labels.assign(record.labels, record.labels + samples_);
  if (record.centroids != nullptr) {
    observed.centroids.assign(record.centroids, record.centroids + cells_);
  }
  trace.push_back(std::move(observed));
  if (raise_at != 0 && record.iteration >= raise_at) stop = true;
  return refuse_at == 0 || record.iteration < refuse_at;
}

FitSpec make_spec(const Setting& setting, const Run& run) {
  FitSpec spec;
  spec.clusters = setting.clusters;
  spec.initial_centroids = setting.centroids.data();
  spec.max_iterations = setting.max_iterations;
  spec.tolerance = setting.tolerance;
  spec.stop_rule = setting.fixed ? StopRule::fixed : StopRule::converge;
  spec.empty_clusters = setting.empty;
  spec.observe = run.observe;
  spec.profile = run.profile ? 1 : 0;
  return spec;
}

namespace {

Trial run_observed(Session& session, const Samples& samples, const Setting& setting, const Run& run,
                   Observer* observer) {
  FitSpec spec = make_spec(setting, run);
  Fenced<double> initial(setting.clusters * samples.d);  // unaligned as well
  std::copy(setting.centroids.begin(), setting.centroids.end(), initial.data());
  spec.initial_centroids = initial.data();
  Fenced<double> centroids(setting.clusters * samples.d);
  Fenced<std::int32_t> labels(samples.n);
  Fenced<std::int64_t> counts(setting.clusters);
  // Values that look like former labels, which a fit must ignore.
  for (std::int64_t i = 0; i < samples.n; ++i) {
    labels.data()[i] = static_cast<std::int32_t>(i % setting.clusters);
  }
  Trial trial;
  // Garbage that the backend must overwrite.
  trial.result.inertia = -1;
  trial.result.iterations = trial.result.relocations = trial.result.distances = -77;
  trial.result.stop_reason = StopReason::cancelled;
  trial.result.valid = 0xffffffff;
  trial.result.loop_ms = trial.result.closing_ms = -77;
  trial.result.centroids = centroids.data();
  trial.result.labels = labels.data();
  trial.result.counts = counts.data();
  trial.status = session.fit(spec, observer, trial.result);
  trial.centroids = centroids.take("centroids");
  trial.labels = labels.take("labels");
  trial.counts = counts.take("counts");
  trial.result.centroids = nullptr;
  trial.result.labels = nullptr;
  trial.result.counts = nullptr;
  return trial;
}

}  // namespace

Trial run_fit(Session& session, const Samples& samples, const Setting& setting, Recorder& recorder,
              const Run& run) {
  Trial trial = run_observed(session, samples, setting, run, &recorder);
  trial.trace = std::move(recorder.trace);
  return trial;
}

Trial run_fit(Session& session, const Samples& samples, const Setting& setting, const Run& run) {
  if (run.observe == 0 || run.observer != nullptr) {
    return run_observed(session, samples, setting, run, run.observer);
  }
  Recorder recorder(samples.n, setting.clusters * samples.d);
  return run_fit(session, samples, setting, recorder, run);
}

bool adapt_to_backend(const Context& context, const Dataset& dataset, Setting& setting) {
  if (context.beyond(dataset, make_spec(setting)).empty()) return true;
  if (setting.empty != EmptyClusters::relocate) return false;
  setting.empty = EmptyClusters::keep;
  return context.beyond(dataset, make_spec(setting)).empty();
}

Trial fresh_fit(const Context& context, const Samples& samples, const Setting& setting,
                Layout layout) {
  const Dataset dataset = make_dataset(samples, context.dtype(), layout);
  const OwnedSession session = context.open(dataset, make_spec(setting));
  Trial trial = run_fit(*session, samples, setting);
  expect(trial.status.ok(), "n={} d={} k={}: fit() failed: {}", samples.n, samples.d,
         setting.clusters, status_message(trial.status));
  return trial;
}

bool accepts_parameters(const Context& context) {
  const Samples samples = rounded(cloud(50, 2, 63), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  if (!context.beyond(dataset, 2).empty()) return false;
  Session* session = nullptr;
  const Status status =
      context.backend().open(dataset.view(), context.parameters().list(), &session);
  if (!status.ok()) return false;
  const OwnedSession owned = opened(status, session, "data");
  Setting setting;
  setting.clusters = 2;
  setting.centroids = first_rows(samples, 2);
  setting.max_iterations = 1;
  return run_fit(*owned, samples, setting).status.ok();
}

Labelling run_label(Session& session, const Samples& samples,
                    const std::vector<double>& centroids) {
  const auto clusters = static_cast<std::int64_t>(centroids.size()) / samples.d;
  LabelRequest request;
  request.centroids = centroids.data();
  request.clusters = clusters;
  Fenced<std::int32_t> labels(samples.n);
  Fenced<std::int64_t> counts(clusters);
  Fenced<double> distances(samples.n);
  Labelling labelling;
  labelling.result.inertia = -1;
  labelling.result.valid = 0xffffffff;
  labelling.result.labels = labels.data();
  labelling.result.counts = counts.data();
  labelling.result.squared_distances = distances.data();
  labelling.status = session.label(request, nullptr, labelling.result);
  labelling.labels = labels.take("labels");
  labelling.counts = counts.take("counts");
  labelling.squared_distances = distances.take("squared distances");
  labelling.result.labels = nullptr;
  labelling.result.counts = nullptr;
  labelling.result.squared_distances = nullptr;
  return labelling;
}

}  // namespace lloyd::conformance
