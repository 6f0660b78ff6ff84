// Sessions: several fits in one, several sessions at once, null outputs, and label().
#include <future>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

Setting session_setting(const Samples& samples, std::int64_t k) {
  Setting setting;
  setting.clusters = k;
  setting.centroids = first_rows(samples, k);
  setting.max_iterations = 6;
  return setting;
}

Samples some_samples(const Context& context, std::uint64_t seed) {
  return rounded(cloud(1100, 4, seed), context.dtype());
}

// Fits with several k and label requests in one session give the results of separate sessions.
void reused(const Context& context) {
  const Samples samples = some_samples(context, 61);
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, 9);
  for (const std::int64_t k : {3, 9, 3, 1, 9}) {
    const Setting setting = session_setting(samples, k);
    const std::string where = fmt::format("a session used again, k={}", k);
    const Trial trial = run_fit(*session, samples, setting);
    expect(trial.status.ok(), "{}: fit() failed: {}", where, status_message(trial.status));
    check_trace(context, where, samples, setting, trial);
    check_closing(context, where, samples, trial);
    if (context.repeatable()) {
      expect_same_fit(where + " against a fresh one", samples.d,
                      fresh_fit(context, samples, setting), trial);
    }
    const Labelling labelling = run_label(*session, samples, first_rows(samples, 5));
    expect(labelling.status.ok(), "{}: label() failed: {}", where,
           status_message(labelling.status));
  }
}

// Runs a complete fit in another session during each iteration.
class NestingRecorder : public Recorder {
 public:
  NestingRecorder(const Samples& samples, std::int64_t cells, Session& other,
                  const Setting& setting)
      : Recorder(samples.n, cells), samples_(samples), other_(other), setting_(setting) {}
  bool on_iteration(const IterationRecord& record) noexcept override {
    Run run;
    run.observe = 0;
    try {
      nested.push_back(run_fit(other_, samples_, setting_, run));
    } catch (const CaseFailed& failed) {
      nested.emplace_back();
      nested.back().status = Status::error(StatusCode::internal, failed.message);
    }
    return Recorder::on_iteration(record);
  }
  std::vector<Trial> nested;

 private:
  const Samples& samples_;
  Session& other_;
  Setting setting_;
};

void two_sessions(const Context& context) {
  const Samples samples = some_samples(context, 62);
  const Samples others = some_samples(context, 63);
  const Dataset dataset = make_dataset(samples, context.dtype());
  const Dataset other_dataset = make_dataset(others, context.dtype());
  const Setting setting = session_setting(samples, 4);
  const Setting other_setting = session_setting(others, 7);
  const OwnedSession session = context.open(dataset, 4);
  const OwnedSession other = context.open(other_dataset, 7);
  NestingRecorder recorder(others, 4 * samples.d, *other, other_setting);
  const Trial trial = run_fit(*session, samples, setting, recorder);
  expect(trial.status.ok(), "the outer fit failed: {}", status_message(trial.status));
  check_trace(context, "outer fit", samples, setting, trial);
  check_closing(context, "outer fit", samples, trial);
  for (const Trial& nested : recorder.nested) {
    expect(nested.status.ok(), "the inner fit failed: {}", status_message(nested.status));
    check_closing(context, "inner fit", others, nested);
  }
  if (!context.repeatable()) return;
  expect_same_fit("outer fit against one alone", samples.d, fresh_fit(context, samples, setting),
                  trial);
  const Trial alone = fresh_fit(context, others, other_setting);
  for (const Trial& nested : recorder.nested) {
    expect_same_fit("inner fit against one alone", others.d, alone, nested);
  }
}

// A backend is thread-safe: two threads, each with its own session.
void two_threads(const Context& context) {
  const Samples samples = some_samples(context, 66);
  const Setting setting = session_setting(samples, 5);
  const auto fit = [&] { return fresh_fit(context, samples, setting); };
  std::vector<std::future<Trial>> fits;
  for (int thread = 0; thread < 3; ++thread) fits.push_back(std::async(std::launch::async, fit));
  std::vector<Trial> trials;
  for (auto& future : fits) trials.push_back(future.get());
  for (const Trial& trial : trials) {
    check_trace(context, "one of three threads", samples, setting, trial);
    check_closing(context, "one of three threads", samples, trial);
    if (context.repeatable()) {
      expect_same_fit("one of three threads", samples.d, fit(), trial);
    }
  }
}

// Every subset of the outputs: the requested ones and the inertia are marked valid, no others.
void null_session_outputs(const Context& context) {
  const Samples samples = some_samples(context, 64);
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, 4);
  const Setting setting = session_setting(samples, 4);
  const FitSpec spec = make_spec(setting, {0, false, nullptr});
  for (std::uint32_t wanted = 0; wanted < 8; ++wanted) {
    Trial trial;
    trial.centroids.resize(4 * samples.d);
    trial.labels.resize(samples.n);
    trial.counts.resize(4);
    FitResult& result = trial.result;
    if ((wanted & kValidCentroids) != 0) result.centroids = trial.centroids.data();
    if ((wanted & kValidLabels) != 0) result.labels = trial.labels.data();
    if ((wanted & kValidCounts) != 0) result.counts = trial.counts.data();
    trial.status = session->fit(spec, nullptr, result);
    const std::string where = fmt::format("wanted outputs {:#x}", wanted);
    expect(trial.status.ok(), "{}: fit() failed: {}", where, status_message(trial.status));
    expect(result.valid == (wanted | kValidInertia), "{}: valid is {:#x}", where, result.valid);
    if (!context.repeatable()) continue;
    const Trial all = fresh_fit(context, samples, setting);
    if (result.centroids == nullptr) trial.centroids = all.centroids;
    if (result.labels == nullptr) trial.labels = all.labels;
    if (result.counts == nullptr) trial.counts = all.counts;
    expect_same_fit(where, samples.d, all, trial);
  }
  LabelRequest request;
  request.centroids = setting.centroids.data();
  request.clusters = 4;
  LabelResult result;
  const Status status = session->label(request, nullptr, result);
  expect(status.ok(), "label() without outputs failed: {}", status_message(status));
  expect(result.valid == kValidInertia, "label() without outputs: valid is {:#x}", result.valid);
  expect_same("label() without outputs", "the inertia",
              run_label(*session, samples, setting.centroids).result.inertia, result.inertia);
}

void check_labelling(const Context& context, const std::string& where, const Samples& samples,
                     const std::vector<double>& centroids, const Labelling& labelling) {
  expect(labelling.status.ok(), "{}: label() failed: {}", where, status_message(labelling.status));
  const std::uint32_t wanted = kValidLabels | kValidCounts | kValidInertia;
  expect(labelling.result.valid == wanted, "{}: valid is {:#x}, expected {:#x}", where,
         labelling.result.valid, wanted);
  check_labels(context, where, samples, centroids, labelling.labels);
  check_counts(where, labelling.labels, labelling.counts);
  check_inertia(where, samples, centroids, labelling.labels, labelling.result.inertia);
  for (std::int64_t i = 0; i < samples.n; ++i) {
    const double* c = centroids.data() + labelling.labels[i] * samples.d;
    expect_same(fmt::format("{}, row {}", where, i), "the squared distance",
                reference::squared_distance(samples.row(i), c, samples.d),
                labelling.squared_distances[i]);
  }
}

void label(const Context& context) {
  const Samples samples = some_samples(context, 65);
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, 12);
  const std::vector<double> given = first_rows(samples, 12);
  check_labelling(context, "label() before any fit", samples, given,
                  run_label(*session, samples, given));
  const Trial trial = run_fit(*session, samples, session_setting(samples, 5));
  expect(trial.status.ok(), "fit() failed: {}", status_message(trial.status));
  const Labelling after = run_label(*session, samples, trial.centroids);
  check_labelling(context, "label() with a fit's centroids", samples, trial.centroids, after);
  expect_same_labels("label() against the fit's labels", trial.labels, after.labels);
  expect_same("label() against the fit", "the inertia", trial.result.inertia, after.result.inertia);
}

}  // namespace

void add_session_cases(std::vector<Case>& cases) {
  cases.push_back({"session/reused", Scope::variants, reused});
  cases.push_back({"session/two-sessions", Scope::variants, two_sessions});
  cases.push_back({"session/two-threads", Scope::variants, two_threads});
  cases.push_back({"session/null-outputs", Scope::variants, null_session_outputs});
  cases.push_back({"session/label", Scope::variants, label});
}

}  // namespace lloyd::conformance
