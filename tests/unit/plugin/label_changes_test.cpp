// A step may report changed labels in any order.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/backend_choice.hpp>
#include <lloyd/data/blobs.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/plugin/sdk/label_change_sums.hpp>
#include <lloyd/plugin/sdk/step_backend.hpp>

namespace lloyd {
namespace {

// Reports the changes of a block backwards, and every other one together with the next.
template <class T>
struct BackwardStep : RowStep<BackwardStep<T>, T> {
  using RowStep<BackwardStep<T>, T>::RowStep;
  using RowStep<BackwardStep<T>, T>::assign;
  std::int32_t label(const T* x) const {
    return nearest_centroid(x, this->centroids, this->clusters, this->dataset.features).label;
  }
  std::int64_t assign(RowRange block, std::int32_t* labels, LabelChangeSums<T>& changes) {
    const std::vector<std::int32_t> former(labels, labels + block.size());
    const std::int64_t changed = this->assign(block, labels);
    std::vector<LabelChange> found;
    for (std::int64_t i = block.size() - 1; i >= 0; --i) {
      const std::int32_t before = former[static_cast<std::size_t>(i)];
      if (before != labels[i]) found.push_back({block.begin + i, before, labels[i]});
    }
    for (std::size_t i = 0; i < found.size(); i += 2) {
      changes.add(&found[i], std::min<std::int64_t>(2, std::ssize(found) - std::int64_t(i)));
    }
    return changed;
  }
};

constexpr BackendInfo kBackwardInfo = exact_step_info("reports changes backwards");
static_assert(ReportsLabelChanges<BackwardStep<float>>);

TEST(LabelChangeSums, MayBeReportedInAnyOrder) {
  const Dataset points = make_blobs({.samples = 3000, .features = 3, .centers = 6, .seed = 3});
  const auto backend = std::make_shared<const LoadedBackend>(
      "backward", make_plugin_header("backward", "1"), new StepBackend<BackwardStep, kBackwardInfo>,
      std::vector<DeviceInfo>(1), "");
  BackendSession session(backend, points, backend->default_parameters());
  const auto sequential = load_backend({.name = "sequential"});
  BackendSession other(sequential, points, sequential->default_parameters());
  const FitOptions options{.clusters = 9};
  EXPECT_EQ(fit(session, options).centroids, fit(other, options).centroids);
}

}  // namespace
}  // namespace lloyd
