// The chosen samples do not depend on the number of threads or on a backend's kernels.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>

#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/seeding_data.hpp"
#include "unit/support/seeding_fake_kernels.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

constexpr SeedingMethod kPlusPlus = SeedingMethod::kmeans_plus_plus;
constexpr SeedingMethod kParallel = SeedingMethod::kmeans_parallel;

Dataset blobs(std::int64_t n, std::int64_t d, DType dtype) {
  return make_blobs({.samples = n, .features = d, .centers = 9, .seed = 2, .dtype = dtype});
}

struct Golden {
  SeedingMethod method;
  Dataset dataset;
  std::int64_t clusters;
  Indices expected;
};

// Golden lists may change only with the version of the seeding.
std::vector<Golden> golden_lists() {
  const DType narrow = DType::float32, wide = DType::float64;
  return {
      {kPlusPlus, lattice<float>(29), 8, {22, 20, 27, 18, 19, 8, 7, 11}},
      {kPlusPlus,
       blobs(5000, 2, narrow),
       12,
       {3870, 3011, 3099, 3465, 4181, 2083, 1387, 1261, 1329, 3417, 1744, 4526}},
      {kPlusPlus, blobs(4097, 16, wide), 6, {3171, 2458, 3414, 3563, 2871, 2006}},
      {kPlusPlus, scattered<float>(9001, 5), 20, {6968, 7519, 5685, 2970, 8285, 7813, 2495,
                                                  4089, 7971, 3163, 3183, 1395, 4017, 834,
                                                  5172, 2743, 116,  8852, 5597, 2704}},
      {kPlusPlus, scattered<double>(300, 33), 9, {232, 189, 251, 271, 278, 111, 68, 184, 79}},
      {kParallel, lattice<float>(29), 8, {12, 27, 5, 26, 21, 4, 19, 7}},
      {kParallel,
       blobs(5000, 2, narrow),
       12,
       {4802, 2774, 2758, 3135, 4627, 2800, 394, 31, 4603, 2005, 843, 3870}},
      {kParallel, blobs(4097, 16, wide), 6, {1416, 2133, 597, 4086, 2800, 2758}},
      {kParallel, scattered<float>(9001, 5), 20, {8775, 5801, 2324, 1236, 1414, 5368, 3356,
                                                  8624, 2498, 196,  5717, 5563, 7511, 4131,
                                                  8027, 5154, 2819, 8219, 4517, 4951}},
      {kParallel, scattered<double>(300, 33), 9, {242, 48, 42, 261, 2, 186, 98, 218, 113}},
  };
}

Seeding seeding_by(SeedingMethod method) {
  Seeding seeding;
  seeding.method = method;
  seeding.seed = 7;
  return seeding;
}

TEST(SeedingPaths, GoldenListsWithAnyNumberOfThreads) {
  for (const Golden& golden : golden_lists()) {
    for (const int threads : {0, 1, 2, 3, 7}) {
      EXPECT_EQ(seed_indices(golden.dataset, golden.clusters, seeding_by(golden.method), 1,
                             {.threads = threads}),
                golden.expected)
          << to_string(golden.method) << ", " << golden.dataset.name() << ", " << threads;
    }
  }
}

TEST(SeedingPaths, GoldenListsThroughOpenmp) {
  Registry registry(Registry::default_folders());
  const auto backend = registry.load("openmp");
  for (const Golden& golden : golden_lists()) {
    for (const char* threads : {"1", "2", "3", "7"}) {
      ParameterSet parameters = backend->default_parameters();
      parameters.set("threads", threads);
      BackendSession session(backend, golden.dataset, parameters);
      EXPECT_NE(session.session().query(kSeedingKernels), nullptr);
      EXPECT_EQ(session.session().query("lloyd.seeding/0"), nullptr);
      EXPECT_EQ(seed_indices(golden.dataset, golden.clusters, seeding_by(golden.method), 1,
                             {.session = &session}),
                golden.expected)
          << to_string(golden.method) << ", " << golden.dataset.name() << ", " << threads;
    }
  }
}

// More features than the kernels support: the core's own threads do the work.
TEST(SeedingPaths, OpenmpLeavesManyFeaturesToTheCore) {
  Registry registry(Registry::default_folders());
  const auto backend = registry.load("openmp");
  const Dataset data = scattered<float>(5, 70000);
  BackendSession session(backend, data, backend->default_parameters());
  EXPECT_EQ(session.session().query(kSeedingKernels), nullptr);
  const Seeding seeding = seeding_by(kPlusPlus);
  EXPECT_EQ(seed_indices(data, 3, seeding, 0, {.session = &session}),
            seed_indices(data, 3, seeding));
}

class SeedingThroughKernels : public testing::Test {
 protected:
  ~SeedingThroughKernels() override { fake::FakeKernels::lie = nullptr; }

  Indices choose(SeedingMethod method, const StopFunction& stop = {}) {
    return seed_indices(data_, 4, seeding_by(method), 0, {.stop = stop, .session = &session_});
  }

  static std::shared_ptr<const LoadedBackend> backend() {
    Backend* made = nullptr;
    EXPECT_TRUE((StepBackend<fake::SeedingStep, fake::kInfo>::create(&made).ok()));
    return std::make_shared<const LoadedBackend>("fake", make_plugin_header("fake", "1"), made,
                                                 std::vector<DeviceInfo>(1), "");
  }

  Dataset data_ = lattice();
  std::shared_ptr<const LoadedBackend> backend_ = backend();
  BackendSession session_{backend_, data_, backend_->default_parameters()};
};

TEST_F(SeedingThroughKernels, FitUsesThem) {
  FitOptions options;
  options.clusters = 4;
  options.max_iterations = 1;
  for (const SeedingMethod method : {kPlusPlus, kParallel}) {
    options.seeding = seeding_by(method);
    fake::FakeKernels::calls = 0;
    const Fit through = fit(session_, options);
    EXPECT_GT(fake::FakeKernels::calls, 0);
    const Fit from =
        session_.fit_from(seed_centroids(data_, options.clusters, options.seeding), options);
    EXPECT_EQ(through.centroids, from.centroids);
  }
}

TEST_F(SeedingThroughKernels, EachLieIsNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::string, fake::KernelLie>> lies = {
      {"sample 3 a squared distance of nan",
       [=](fake::KernelAnswer& a) { a.squared_distances[3] = nan; }},
      {"sample 0 a squared distance of inf",
       [](fake::KernelAnswer& a) { a.squared_distances[0] = 1.0 / 0.0; }},
      {"sample 19 a squared distance of -1 ",
       [](fake::KernelAnswer& a) { a.squared_distances[19] = -1; }},
      {"to centroid -1 of 1", [](fake::KernelAnswer& a) { a.nearest[7] = -1; }},
      {"to centroid 1 of 1", [](fake::KernelAnswer& a) { a.nearest[7] = 1; }},
      // If this were accepted, the rounds would never end.
      {"at a squared distance of 1 from itself",
       [](fake::KernelAnswer& a) { std::fill_n(a.squared_distances, 20, 1.0); }},
      {"fake: out of memory",
       [](fake::KernelAnswer& a) { a.status = Status::error(StatusCode::out_of_memory, ""); }},
      {"fake: cancelled",
       [](fake::KernelAnswer& a) { a.status = Status::error(StatusCode::cancelled, ""); }},
  };
  for (const auto& [expected, lie] : lies) {
    fake::FakeKernels::lie = lie;
    const std::string message = message_of<BackendError>([&] { choose(kParallel); });
    EXPECT_NE(message.find(expected), std::string::npos) << expected << "\n" << message;
  }
}

TEST_F(SeedingThroughKernels, TheSessionMustBeOfTheSameData) {
  const Dataset other = lattice();
  EXPECT_THROW(seed_indices(other, 2, seeding_by(kPlusPlus), 0, {.session = &session_}),
               InputError);
}

TEST_F(SeedingThroughKernels, CanBeStopped) {
  for (const SeedingMethod method : {kPlusPlus, kParallel}) {
    EXPECT_THROW(choose(method, [] { return true; }), Cancelled);
  }
}

std::shared_ptr<const LoadedBackend> resident_backend() {
  Backend* made = nullptr;
  EXPECT_TRUE((StepBackend<fake::ResidentSeedingStep, fake::kResidentInfo>::create(&made).ok()));
  return std::make_shared<const LoadedBackend>("fake", make_plugin_header("fake", "1"), made,
                                               std::vector<DeviceInfo>(1), "");
}

TEST(ResidentSeeding, GoldenLists) {
  const auto backend = resident_backend();
  int seedings = 0;
  for (const Golden& golden : golden_lists()) {
    BackendSession session(backend, golden.dataset, backend->default_parameters());
    EXPECT_EQ(seed_indices(golden.dataset, golden.clusters, seeding_by(golden.method), 1,
                           {.session = &session}),
              golden.expected)
        << to_string(golden.method) << ", " << golden.dataset.name();
    seedings += golden.method == kPlusPlus ? 1 : 0;
  }
  using Narrow = fake::FakeResidentSeeding<float>;
  using WideKernels = fake::FakeResidentSeeding<double>;
  EXPECT_EQ(Narrow::begun + WideKernels::begun, seedings);
  EXPECT_EQ(Narrow::ended + WideKernels::ended, seedings);
}

TEST(ResidentSeeding, EachLieIsNamed) {
  const auto backend = resident_backend();
  const Dataset data = lattice();
  BackendSession session(backend, data, backend->default_parameters());
  const std::vector<std::pair<std::string, fake::SeedingLie>> lies = {
      {"fake: the largest squared distance of its seeding is nan",
       [](fake::SeedingAnswer& a) { a.largest = std::nan(""); }},
      {"fake: the largest squared distance of its seeding is inf",
       [](fake::SeedingAnswer& a) { a.largest = 1.0 / 0.0; }},
      {"fake: the weights of its seeding add up to 0", [](fake::SeedingAnswer& a) { a.total = 0; }},
      {"fake: its seeding found row -1 of 20", [](fake::SeedingAnswer& a) { a.row = -1; }},
      {"fake: its seeding found row 20 of 20", [](fake::SeedingAnswer& a) { a.row = 20; }},
      {"fake: its seeding rates row 7 with -1; it must be from 0 to 100",
       [](fake::SeedingAnswer& a) {
         a = {a.largest, 100, 7, -1};
       }},
      {"fake: its seeding rates row 7 with 101; it must be from 0 to 100",
       [](fake::SeedingAnswer& a) {
         a = {a.largest, 100, 7, 101};
       }},
  };
  for (const auto& [expected, lie] : lies) {
    fake::FakeResidentSeeding<float>::lie = lie;
    EXPECT_EQ(message_of<BackendError>(
                  [&] { seed_indices(data, 4, seeding_by(kPlusPlus), 0, {.session = &session}); }),
              expected);
  }
  fake::FakeResidentSeeding<float>::lie = nullptr;
}

TEST(ResidentSeeding, CanBeStopped) {
  const auto backend = resident_backend();
  const Dataset data = lattice();
  BackendSession session(backend, data, backend->default_parameters());
  EXPECT_THROW(seed_indices(data, 4, seeding_by(kPlusPlus), 0,
                            {.stop = [] { return true; }, .session = &session}),
               Cancelled);
}

// Reading beyond the end of a mapped file would raise SIGBUS.
TEST(ResidentSeeding, ATruncatedFileIsAnInputError) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "blobs.npy";
  write_dataset(file, blobs(20000, 4, DType::float32));
  const Dataset data = read_dataset(file);
  const auto backend = resident_backend();
  BackendSession session(backend, data, backend->default_parameters());
  std::filesystem::resize_file(file, 128);
  const std::string message = message_of<InputError>(
      [&] { seed_indices(data, 3, seeding_by(kPlusPlus), 0, {.session = &session}); });
  EXPECT_NE(message.find("the file was truncated from"), std::string::npos) << message;
}

TEST(SeedingPaths, TellHowManyCentroidsAreChosen) {
  const Dataset data = blobs(3000, 4, DType::float32);
  for (const SeedingMethod method : {kPlusPlus, kParallel}) {
    std::vector<std::int64_t> reports;
    seed_indices(data, 20, seeding_by(method), 0,
                 {.progress = [&](std::int64_t done, std::int64_t total) {
                   EXPECT_EQ(total, 20);
                   reports.push_back(done);
                 }});
    EXPECT_GE(reports.size(), method == kPlusPlus ? 20u : 5u);
    EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
    EXPECT_LE(reports.back(), 20);
  }
}

// The stop function is also polled within each pass.
TEST(SeedingPaths, CanBeStoppedAtAnyTime) {
  const Dataset data = blobs(100000, 8, DType::float32);
  for (const SeedingMethod method : {kPlusPlus, kParallel}) {
    std::int64_t asked = 0;
    const auto chosen = [&](int threads, std::int64_t stop_after) {
      asked = 0;
      return seed_indices(data, 2, seeding_by(method), 0,
                          {.stop = [&] { return ++asked == stop_after; }, .threads = threads});
    };
    chosen(1, 0);
    EXPECT_GT(asked, 10);
    const std::int64_t most = asked;
    for (const std::int64_t after : {std::int64_t{1}, std::int64_t{3}, most / 2, most}) {
      EXPECT_THROW(chosen(1, after), Cancelled) << to_string(method) << " " << after;
      EXPECT_EQ(asked, after);
    }
    // With several threads, the number of polls is not deterministic.
    EXPECT_THROW(chosen(3, 1), Cancelled) << to_string(method);
    EXPECT_EQ(asked, 1);
  }
}

}  // namespace
}  // namespace lloyd
