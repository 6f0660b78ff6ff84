// A program of the next minor version: its headers extend every extensible struct by the field
// `added`. It loads the plugins of this version and works with them.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/internal/plugin_struct.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/registry.hpp>

namespace lloyd {
namespace {

constexpr std::int64_t kDefault = 7;  // stays in the field if the plugin does not know it

// The struct size that the plugin wrote, and this program's copy of the record.
struct Seen {
  std::uint64_t plugin_size;
  IterationRecord record;
};

class Records final : public Observer {
 public:
  bool on_iteration(const IterationRecord& record) noexcept override {
    seen.push_back({record.struct_size, host_copy(&record)});
    return true;
  }
  bool stop_requested() const noexcept override { return false; }
  std::vector<Seen> seen;
};

struct Release {
  void operator()(Session* session) const { session->release(); }
};

class NewerHost : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    backend_ = load_plugin(folder / ("lloyd_" + GetParam() + ".so"));
    parameters_ = std::make_unique<ParameterSet>(backend_->default_parameters());
    list_ = parameters_->list();

    view_.required_capabilities = kCapabilityFloat64 | kCapabilityHostMemory;
    view_.data = values_.data();
    view_.samples = view_.total_samples = 6;
    view_.features = view_.stride = 1;
    view_.dtype = DType::float64;
    view_.statistics = &statistics_;
    Session* session = nullptr;
    const Status status = backend_->backend().open(view_, list_, &session);
    ASSERT_TRUE(status.ok()) << status.message;
    session_.reset(session);
  }

  // Two clusters with means 2 and 11.
  std::vector<double> values_{1, 2, 3, 10, 11, 12};
  FeatureStatistics statistics_{1, 12, 6.5, 20.92, 0, 0};
  std::vector<double> start_{1, 12};
  DatasetView view_;
  std::unique_ptr<LoadedBackend> backend_;
  std::unique_ptr<ParameterSet> parameters_;
  ParameterList list_;
  std::unique_ptr<Session, Release> session_;
};

TEST_P(NewerHost, TakesAnOlderPlugin) {
  const PluginHeader header = read_plugin_header(backend_->path());
  EXPECT_EQ(header.abi_major, kAbiMajor);
  EXPECT_EQ(header.abi_minor + 1, kAbiMinor);
  EXPECT_EQ(backend_->backend().info()->struct_size + sizeof(BackendInfo::added),
            sizeof(BackendInfo));
  EXPECT_EQ(backend_->info().added, kDefault);
  EXPECT_EQ(backend_->info().struct_size, sizeof(BackendInfo));
  EXPECT_STRNE(backend_->info().summary, "");
  EXPECT_EQ(backend_->devices().size(), 1u);
  ASSERT_FALSE(parameters_->schema().empty());
  for (const ParameterInfo& parameter : parameters_->schema()) {
    EXPECT_EQ(parameter.added, kDefault) << parameter.name;
    EXPECT_STRNE(parameter.meaning, "") << parameter.name;
  }
}

TEST_P(NewerHost, PlansAndFits) {
  ProblemShape shape;
  shape.samples = 6;
  shape.features = shape.stride = 1;
  shape.clusters = 2;
  shape.dtype = DType::float64;
  FitSpec spec;
  spec.clusters = 2;
  spec.initial_centroids = start_.data();
  spec.max_iterations = 10;
  spec.observe = kObserveIterations | kObserveCentroids;
  EXPECT_TRUE(backend_->backend().supports(shape, list_, spec).ok());
  MemoryEstimate memory;
  EXPECT_TRUE(backend_->backend().estimate(shape, list_, spec, memory).ok());
  EXPECT_GT(memory.host_bytes, 0);
  EXPECT_EQ(memory.added, kDefault);

  std::vector<double> centroids(2);
  std::vector<std::int32_t> labels(6);
  FitResult result;
  result.centroids = centroids.data();
  result.labels = labels.data();
  Records observer;
  const Status status = session_->fit(spec, &observer, result);
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(centroids, (std::vector<double>{2, 11}));
  EXPECT_EQ(labels, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(result.inertia, 4);
  EXPECT_EQ(result.added, kDefault);
  ASSERT_EQ(observer.seen.size(), static_cast<std::size_t>(result.iterations));
  for (const Seen& seen : observer.seen) {
    EXPECT_EQ(seen.plugin_size + sizeof(IterationRecord::added), sizeof(IterationRecord));
    EXPECT_EQ(seen.record.added, kDefault);
    EXPECT_NE(seen.record.centroids, nullptr);
  }
}

TEST_P(NewerHost, LabelsAndSums) {
  LabelRequest request;
  request.centroids = start_.data();
  request.clusters = 2;
  std::vector<std::int64_t> counts(2);
  LabelResult labelled;
  labelled.counts = counts.data();
  EXPECT_TRUE(session_->label(request, nullptr, labelled).ok());
  EXPECT_EQ(counts, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(labelled.inertia, 10);
  EXPECT_EQ(labelled.added, kDefault);

  PartialRequest rows;
  rows.centroids = start_.data();
  rows.clusters = 2;
  rows.rows = {1, 6};
  std::vector<SumWords> sums(2);
  PartialResult summed;
  summed.sums = sums.data();
  EXPECT_TRUE(session_->partial(rows, nullptr, summed).ok());
  EXPECT_EQ(sums[0].low, 5u);
  EXPECT_EQ(sums[1].low, 33u);
  EXPECT_EQ(summed.changed, 5);
  EXPECT_EQ(summed.added, kDefault);
}

TEST_P(NewerHost, SeedsWhereThatIsOffered) {
  auto* const kernels = static_cast<SeedingKernels*>(session_->query(kSeedingKernels));
  if (kernels == nullptr) GTEST_SKIP() << GetParam() << " offers no seeding kernels";
  std::vector<double> distances(6, 1e9);
  NearestRequest nearest;
  nearest.centroids = start_.data();
  nearest.count = 2;
  nearest.squared_distances = distances.data();
  EXPECT_TRUE(kernels->nearest(nearest, nullptr).ok());
  EXPECT_EQ(distances, (std::vector<double>{0, 1, 4, 4, 1, 0}));
  std::int64_t gain = 0;
  const double candidate = 3;
  GainsRequest gains;
  gains.candidates = &candidate;
  gains.count = 1;
  gains.squared_distances = distances.data();
  gains.gains = &gain;
  EXPECT_TRUE(kernels->gains(gains, nullptr).ok());
  EXPECT_EQ(gain, 4);
}

INSTANTIATE_TEST_SUITE_P(Plugins, NewerHost, testing::Values("sequential", "openmp"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lloyd
