// Labels that a step has not written: LloydLoop requests them before it reads them.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/parameters.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/lloyd_loop.hpp>
#include <lloyd/plugin/sdk/step.hpp>

namespace lloyd {
namespace {

// Writes labels on request, or in passes without changes.
struct DeferringStep : StepBase {
  using value_type = double;

  explicit DeferringStep(const DatasetView& view)
      : dataset(view), own(static_cast<std::size_t>(view.samples), -1) {}

  void begin_fit(const StepFitOptions& options) {
    own.assign(own.size(), -1);
    defers = options.defer_labels;
  }
  std::int64_t take_distances() { return 0; }
  void write_labels(std::int32_t* labels) {
    ++written;
    if (defers) std::copy(own.begin(), own.end(), labels);
  }
  void begin_pass(const double* values, std::int64_t count, const StepPassOptions& options) {
    centroids = values;
    clusters = count;
    expects = options.reports_changes;
  }

  std::int32_t nearest(std::int64_t i) const {
    const double* const x = static_cast<const double*>(dataset.data) + i * dataset.stride;
    return nearest_centroid(x, centroids, clusters, dataset.features).label;
  }
  std::int64_t assign(RowRange block, std::int32_t* labels) {
    EXPECT_FALSE(expects);
    std::int64_t changed = 0;
    for (std::int64_t i = block.begin; i < block.end; ++i, ++labels) {
      const std::int32_t label = nearest(i);
      changed += *labels != label ? 1 : 0;
      *labels = own[static_cast<std::size_t>(i)] = label;
    }
    return changed;
  }
  std::int64_t assign(RowRange block, std::int32_t* labels, LabelChangeSums<double>& changes) {
    EXPECT_TRUE(expects);
    std::int64_t changed = 0;
    for (std::int64_t i = block.begin; i < block.end; ++i, ++labels) {
      const std::int32_t label = nearest(i);
      std::int32_t& former = own[static_cast<std::size_t>(i)];
      if (former != label) {
        changes.add(i, former, label);
        ++changed;
      }
      former = label;
      if (!defers) *labels = label;
    }
    return changed;
  }

  DatasetView dataset;
  std::vector<std::int32_t> own;
  const double* centroids = nullptr;
  std::int64_t clusters = 0;
  int written = 0;
  bool defers = false, expects = false;
};
static_assert(Step<DeferringStep> && ReportsLabelChanges<DeferringStep> &&
              DefersLabels<DeferringStep>);

struct PlainStep : RowStep<PlainStep, double> {
  explicit PlainStep(const DatasetView& view) : RowStep(view, {}) {}
  std::int32_t label(const double* x) const {
    return nearest_centroid(x, centroids, clusters, dataset.features).label;
  }
};

struct Inertias : Observer {
  std::vector<double> of_iterations;
  bool on_iteration(const IterationRecord& record) noexcept override {
    of_iterations.push_back(record.inertia);
    return true;
  }
  bool stop_requested() const noexcept override { return false; }
};

struct Fitted {
  std::vector<double> centroids = std::vector<double>(3);
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(8);
  std::vector<double> inertias;
  std::int64_t relocations = 0;
};

template <class S>
Fitted fit_by(S& step, const DatasetView& view, const std::vector<double>& start,
              std::uint32_t observe) {
  Fitted made;
  Inertias inertias;
  FitSpec spec;
  spec.clusters = 3;
  spec.initial_centroids = start.data();
  spec.max_iterations = 6;
  spec.observe = observe;
  FitResult result;
  result.centroids = made.centroids.data();
  result.labels = made.labels.data();
  LloydLoop<S> loop(step, view);
  loop.fit(spec, &inertias, result);
  made.inertias = inertias.of_iterations;
  made.relocations = result.relocations;
  return made;
}

TEST(DeferredLabels, AreWrittenBeforeTheyAreRead) {
  const Dataset data("samples",
                     Matrix::from_values(std::vector<double>{0, 1, 2, 20, 21, 22, 23, 60}, 8, 1));
  const DatasetView view = data.view();
  // The last cluster is empty from the first or the second iteration on; the search for the
  // farthest sample needs the labels of that time.
  for (const std::vector<double>& start :
       {std::vector<double>{0, 21, 1000}, std::vector<double>{1, 30, 44}}) {
    for (const std::uint32_t observe : {std::uint32_t{0}, std::uint32_t{kObserveInertia}}) {
      PlainStep plain(view);
      DeferringStep deferring(view);
      const Fitted expected = fit_by(plain, view, start, observe);
      const Fitted found = fit_by(deferring, view, start, observe);
      EXPECT_EQ(found.centroids, expected.centroids);
      EXPECT_EQ(found.labels, expected.labels);
      EXPECT_EQ(found.inertias, expected.inertias);
      EXPECT_EQ(found.relocations, expected.relocations);
      EXPECT_EQ(deferring.written > 0, expected.relocations > 0);
      EXPECT_EQ(deferring.defers, observe == 0);
    }
  }
}

}  // namespace
}  // namespace lloyd
