#include "backends.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/iteration_rules.hpp>

namespace lloyd::gpu_tests {

std::filesystem::path plugin_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

Registry& registry() {
  static Registry instance({plugin_folder()});
  return instance;
}

std::vector<std::string> cuda_backends() {
  std::vector<std::string> names;
  for (const std::string& name : registry().names()) {
    if (name.starts_with("cuda-")) names.push_back(name);
  }
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& backend) {
  std::string name = backend.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::shared_ptr<const LoadedBackend> backend(const std::string& name) {
  auto loaded = registry().load(name);
  if (!loaded->available()) throw std::runtime_error(name + ": " + loaded->unavailable());
  return loaded;
}

void in_parallel(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body) {
  const auto threads = std::max<std::int64_t>(std::thread::hardware_concurrency(), 1);
  const std::int64_t part = (n + threads - 1) / threads;
  std::vector<std::jthread> pool;
  for (std::int64_t begin = 0; begin < n; begin += part) {
    pool.emplace_back([&, begin] { body(begin, std::min(begin + part, n)); });
  }
}

namespace {

// SplitMix64 of a counter, so that values can be generated in any order.
std::uint64_t mixed(std::uint64_t counter) {
  std::uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double uniform(std::uint64_t counter) {
  return static_cast<double>(mixed(counter) >> 11) * 0x1p-53;
}

}  // namespace

Dataset clouds(std::int64_t n, std::int64_t d, std::int64_t centers, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(n * d));
  const std::uint64_t base = mixed(seed);
  in_parallel(n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto center = static_cast<std::int64_t>(mixed(base ^ static_cast<std::uint64_t>(i)) %
                                                    static_cast<std::uint64_t>(centers));
      for (std::int64_t j = 0; j < d; ++j) {
        const auto at = static_cast<std::uint64_t>(i * d + j);
        const double about =
            20 * uniform(base + 7 * static_cast<std::uint64_t>(center * d + j)) - 10;
        // The sum of two uniform numbers is fast and close enough to a bell curve.
        const double noise = uniform(base + 2 * at + 1) + uniform(~base + 2 * at) - 1;
        values[static_cast<std::size_t>(at)] = static_cast<float>(about + 2.4 * noise);
      }
    }
  });
  return Dataset("clouds", Matrix::from_values(std::move(values), n, d));
}

void check_one_iteration(BackendSession& session, std::int64_t clusters) {
  const Dataset& dataset = session.dataset();
  const std::int64_t n = dataset.samples();
  const std::int64_t d = dataset.features();
  const auto* values = static_cast<const float*>(dataset.matrix().data);
  const std::vector<double> start(values, values + clusters * d);

  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  session.label(start, clusters, labels, counts);
  FitOptions options;
  options.clusters = clusters;
  options.max_iterations = 1;
  options.fixed_iterations = true;
  options.empty_clusters = EmptyClusters::keep;
  const Fit fit = session.fit_from(start, options);

  const DatasetView view = dataset.view();
  const SumPlan plan = SumPlan::make(view);
  ASSERT_TRUE(plan.is_integer());
  ClusterSums sums(plan, clusters);
  std::mutex merging;
  in_parallel(n, [&](std::int64_t begin, std::int64_t end) {
    ClusterSums part(plan, clusters);
    part.add(values + begin * d, d, end - begin, labels.data() + begin);
    const std::lock_guard<std::mutex> lock(merging);
    sums.merge(part);
  });
  std::vector<double> expected(start.size());
  move_to_means(sums, d, start, expected);
  EXPECT_EQ(fit.centroids, expected);
  std::int64_t total = 0;
  for (std::int64_t c = 0; c < clusters; ++c) {
    EXPECT_EQ(counts[static_cast<std::size_t>(c)], sums.count(c)) << "cluster " << c;
    total += fit.counts[static_cast<std::size_t>(c)];
  }
  EXPECT_EQ(total, n);

  std::int64_t far = 0;
  const std::int64_t step = std::max<std::int64_t>(n / 20011, 1);
  for (std::int64_t i = n - 1; i >= 0; i -= step) {
    const float* x = values + i * d;
    const Nearest nearest = nearest_centroid(x, start.data(), clusters, d);
    const double own =
        squared_distance(x, start.data() + labels[static_cast<std::size_t>(i)] * d, d);
    far += own > nearest.squared_distance + 1e-4 * (1 + nearest.squared_distance) ? 1 : 0;
  }
  EXPECT_EQ(far, 0);
}

std::int64_t wrong_labels(const Dataset& dataset, const std::vector<double>& centroids,
                          std::int64_t clusters, const std::vector<std::int32_t>& labels) {
  const std::int64_t d = dataset.features();
  const auto* values = static_cast<const float*>(dataset.matrix().data);
  std::atomic<std::int64_t> wrong = 0;
  in_parallel(dataset.samples(), [&](std::int64_t begin, std::int64_t end) {
    std::int64_t own = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const Nearest nearest = nearest_centroid(values + i * d, centroids.data(), clusters, d);
      own += nearest.label != labels[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    wrong += own;
  });
  return wrong;
}

}  // namespace lloyd::gpu_tests
