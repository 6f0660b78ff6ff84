// Fits composed of partial() passes, as in out-of-core and distributed fits.
#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/partial_trial.hpp"

namespace lloyd::conformance {
namespace {

// Iterations of partial() over three ranges; after each, the centroids equal those of fit().
void compare_loop(const Context& context, const Samples& samples, std::int64_t clusters) {
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, clusters);
  Setting setting;
  setting.clusters = clusters;
  setting.centroids = first_rows(samples, clusters);
  setting.max_iterations = 8;
  setting.fixed = true;
  const Trial trial = run_fit(*session, samples, setting);
  expect(trial.status.ok(), "fit() failed: {}", status_message(trial.status));

  const std::vector<std::int64_t> cuts{0, samples.n / 3, samples.n / 2, samples.n};
  std::vector<double> centroids = setting.centroids;
  std::vector<std::int32_t> labels(samples.n, -1);
  for (const Observed& observed : trial.trace) {
    const Accumulated sums = run_partials(*session, samples, centroids, cuts, 0, labels);
    expect(sums.form != SumForm::compensated,
           "data of ordinary range was summed in the compensated form");
    const std::string where =
        fmt::format("a loop over partial() against fit(), iteration {}", observed.record.iteration);
    expect_same_labels(where, observed.labels, labels);
    expect(sums.changed == observed.record.changed, "{}: changed is {}, expected {}", where,
           sums.changed, observed.record.changed);
    expect_same(where, "the inertia", observed.record.inertia, sums.inertia.value());
    centroids = sums.means(dataset, centroids);
    expect_same(where + ", centroids", samples.d, observed.centroids, centroids);
  }
  const Accumulated closing = run_partials(*session, samples, centroids, cuts, 0, labels);
  expect_same_labels("the closing assignment by partial()", trial.labels, labels);
  expect_same_counts("the closing assignment by partial()", trial.counts, closing.counts);
  expect_same("the closing assignment by partial()", "the inertia", trial.result.inertia,
              closing.inertia.value());
}

void fit_loop(const Context& context) {
  if (!context.canonical()) throw CaseSkipped{"the backend does not claim canonical results"};
  compare_loop(context, rounded(cloud(2500, 3, 91), context.dtype()), 9);
}

// Each part of a data set has its own session with the statistics of the whole, as on several
// devices or machines. The sums of the parts add up to those of the whole.
void parts_of_a_data_set(const Context& context) {
  const Samples samples = rounded(cloud(1501, 3, 93), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const std::vector<double> centroids = first_rows(samples, 6);
  const OwnedSession whole = context.open(dataset, 6);
  std::vector<std::int32_t> labels(samples.n, -1);
  const Accumulated expected = run_partials(*whole, samples, centroids, {0, samples.n}, 8, labels);
  expect(expected.form != SumForm::compensated,
         "data of ordinary range was summed in the compensated form");

  const std::vector<std::int64_t> cuts{0, 600, 601, samples.n};
  std::vector<Wide> sums(expected.sums.size(), 0);
  std::vector<std::int64_t> counts(6, 0);
  for (std::size_t at = 0; at + 1 < cuts.size(); ++at) {
    const std::int64_t rows = cuts[at + 1] - cuts[at];
    DatasetView view = dataset.view();
    view.data =
        static_cast<const char*>(view.data) + cuts[at] * view.stride * size_of(context.dtype());
    view.samples = rows;
    Session* part_session = nullptr;
    const Status status = context.backend().open(view, context.parameters().list(), &part_session);
    const OwnedSession session =
        opened(status, part_session, fmt::format("a part of {} rows", rows));
    std::vector<std::int32_t> part_labels(rows, -1);
    const Accumulated part = run_partials(*session, samples, centroids, {0, rows}, 0, part_labels);
    expect(part.form == expected.form, "the sums of a part have another form than the whole");
    for (std::size_t cell = 0; cell < sums.size(); ++cell)
      sums[cell] = wrapped_sum(sums[cell], wide(part.sums[cell]));
    for (std::size_t c = 0; c < counts.size(); ++c) counts[c] += part.counts[c];
    expect_same_labels(fmt::format("the part from row {}", cuts[at]),
                       {labels.begin() + cuts[at], labels.begin() + cuts[at + 1]}, part_labels);
  }
  expect_same_counts("parts added up", expected.counts, counts);
  for (std::size_t cell = 0; cell < sums.size(); ++cell) {
    expect(sums[cell] == wide(expected.sums[cell]),
           "parts added up: the sum of cluster {} feature {} is {} quanta, of the whole {}",
           cell / 3, cell % 3, static_cast<double>(sums[cell]),
           static_cast<double>(wide(expected.sums[cell])));
  }
}

// The farthest samples reported by partial() are those that fit() relocates to.
void relocation(const Context& context) {
  const Samples samples = lattice(64, 2, 6, 92);
  const Dataset dataset = make_dataset(samples, context.dtype());
  Setting setting;
  setting.clusters = 3;
  setting.centroids = {500, 500, 0.25, 0.5, -500, 500};
  setting.max_iterations = 1;
  setting.empty = EmptyClusters::relocate;
  const OwnedSession session = context.open(dataset, make_spec(setting));
  const Trial trial = run_fit(*session, samples, setting);
  expect(trial.status.ok(), "fit() failed: {}", status_message(trial.status));
  expect(trial.result.relocations == 2, "fit() relocated {} clusters, expected 2",
         trial.result.relocations);
  std::vector<std::int32_t> labels(64, -1);
  const Accumulated sums =
      run_partials(*session, samples, setting.centroids, {0, 20, 64}, 3, labels);
  expect(sums.farthest.size() == 3, "partial() reported {} far samples of 3", sums.farthest.size());
  for (const int nth : {0, 1}) {
    const double* sample = samples.row(sums.farthest[nth].row);
    const double* centroid = trial.centroids.data() + 4 * nth;
    expect(centroid[0] == sample[0] && centroid[1] == sample[1],
           "empty cluster {} was relocated to ({}, {}), far sample {} of partial() is ({}, {})",
           2 * nth, centroid[0], centroid[1], nth, sample[0], sample[1]);
  }
}

}  // namespace

void add_partial_fit_cases(std::vector<Case>& cases) {
  cases.push_back({"partial/fit-loop", Scope::variants, fit_loop});
  cases.push_back({"partial/parts-of-a-data-set", Scope::variants, parts_of_a_data_set});
  cases.push_back({"partial/relocation", Scope::variants, relocation});
}

}  // namespace lloyd::conformance
