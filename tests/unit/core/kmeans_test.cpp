// kmeans(): one call from samples to a model that predicts, with the plugins beside this program.
#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/criteria.hpp>
#include <lloyd/data/blobs.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/standardize.hpp>

#include "unit/support/faulty_rows.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

const KMeansOptions kSequential = {.backend = {.name = "sequential"}};

// Two clusters: rows 0 and 1, rows 2 and 3.
const std::vector<float> kPoints = {0, 0, 0, 2, 9, 0, 9, 2};

TEST(KMeans, ClustersFloat32Samples) {
  const Fit fit = kmeans(kPoints.data(), 4, 2, 2);
  EXPECT_FALSE(fit.cancelled);
  EXPECT_EQ(fit.clusters, 2);
  EXPECT_EQ(fit.features, 2);
  EXPECT_EQ(fit.samples, 4);
  EXPECT_EQ(fit.inertia, 4);
  EXPECT_EQ(fit.result.inertia, 4);
  EXPECT_EQ(fit.seeding_method, "k-means++");
  EXPECT_FALSE(fit.backend.empty());
  ASSERT_EQ(fit.labels.size(), 4u);
  EXPECT_EQ(fit.labels[0], fit.labels[1]);
  EXPECT_EQ(fit.labels[2], fit.labels[3]);
  EXPECT_NE(fit.labels[0], fit.labels[2]);
  ASSERT_TRUE(fit.check.has_value());
}

TEST(KMeans, ClustersFloat64SamplesLikeADataset) {
  const std::vector<double> points(kPoints.begin(), kPoints.end());
  const Fit fit = kmeans(points.data(), 4, 2, 2, kSequential);
  EXPECT_EQ(fit.backend, "sequential");
  const Dataset dataset("points", Matrix::from_values(points, 4, 2));
  EXPECT_EQ(kmeans(dataset, 2, kSequential).centroids, fit.centroids);
}

TEST(KMeans, RefusesAnotherNumberOfClustersInTheOptions) {
  KMeansOptions options = kSequential;
  options.fit.clusters = 3;
  EXPECT_EQ(message_of<InputError>([&] { kmeans(kPoints.data(), 4, 2, 2, options); }),
            "KMeansOptions::fit.clusters is 3, but k is 2; leave it at its default");
  EXPECT_EQ(kmeans(kPoints.data(), 4, 2, 3, options).clusters, 3);
}

TEST(KMeans, RefusesAPluginFolderThatDoesNotExist) {
  const TemporaryFolder folder;
  KMeansOptions options = kSequential;
  options.backend.plugin_folders = {folder.path() / "none"};
  EXPECT_EQ(
      message_of<InputError>([&] { kmeans(kPoints.data(), 4, 2, 2, options); }),
      "the plugin folder " + (folder.path() / "none").string() + " does not exist or is no folder");
}

// All results of a clustering and of its evaluation.
struct EveryResult {
  std::vector<std::vector<double>> values;
  std::vector<std::vector<std::int32_t>> labels;
  bool operator==(const EveryResult&) const = default;
};

Matrix nine_blobs() {
  return make_blobs({.samples = 700, .features = 5, .centers = 9, .seed = 3}).matrix();
}

EveryResult every_result(const Matrix& samples) {
  EveryResult all;
  for (const SeedingMethod method :
       {SeedingMethod::kmeans_plus_plus, SeedingMethod::kmeans_parallel, SeedingMethod::random}) {
    for (const double tolerance : {0.0, 0.01}) {
      KMeansOptions options = kSequential;
      options.fit.seeding.method = method;
      options.fit.tolerance = tolerance;
      options.fit.restarts = 2;
      options.fit.observe = kObserveIterations | kObserveInertia;
      options.on_iteration = [&](const IterationRecord& record) {
        all.values.push_back({record.shift, record.inertia});
        return true;
      };
      const Fit fit = kmeans(samples, 9, options);
      all.values.push_back(fit.centroids);
      all.values.push_back({fit.inertia, fit.check->inertia});
      all.labels.push_back(fit.labels);
      all.labels.push_back(fit.predict(samples, kSequential.backend));
      const Dataset dataset("blobs", samples);
      all.values.push_back({make_spec(options.fit, dataset.mean_variance()).tolerance,
                            inertia(dataset, fit.centroids, fit.labels)});
      const ClusterCriteria criteria = cluster_criteria(dataset, fit.labels, 9);
      all.values.push_back(
          {criteria.silhouette, criteria.calinski_harabasz, criteria.davies_bouldin});
      const Dataset standard = standardize(dataset);
      all.values.push_back(kmeans(standard, 9, options).centroids_in_data_units());
      all.values.push_back({adjusted_rand_index(all.labels[0], all.labels.back())});
    }
  }
  return all;
}

TEST(KMeans, DoesNotDependOnTheModesOfTheCaller) {
  const Matrix samples = nine_blobs();
  const EveryResult expected = every_result(samples);
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    const EveryResult found = every_result(samples);
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(after, rounding);
    EXPECT_EQ(found, expected) << rounding;
  }
}

// Flush-to-zero and denormals-are-zero for its lifetime, where the processor is known.
class FlushedSubnormals {
 public:
#if defined(__x86_64__)
  static constexpr bool kKnown = true;
  FlushedSubnormals() : saved_(_mm_getcsr()) {
    _mm_setcsr(static_cast<unsigned>(saved_) | kFlags);
  }
  ~FlushedSubnormals() {
    _mm_setcsr(static_cast<unsigned>(saved_));
  }
  bool hold() const {
    return (_mm_getcsr() & kFlags) == kFlags;
  }

 private:
  static constexpr unsigned kFlags = 0x8040;
#elif defined(__aarch64__)
  static constexpr bool kKnown = true;
  FlushedSubnormals() : saved_(__builtin_aarch64_get_fpcr64()) {
    __builtin_aarch64_set_fpcr64(saved_ | kFlags);
  }
  ~FlushedSubnormals() {
    __builtin_aarch64_set_fpcr64(saved_);
  }
  bool hold() const {
    return (__builtin_aarch64_get_fpcr64() & kFlags) == kFlags;
  }

 private:
  static constexpr std::uint64_t kFlags = std::uint64_t{1} << 24;
#else
  static constexpr bool kKnown = false;
  bool hold() const {
    return false;
  }

 private:
#endif
  std::uint64_t saved_ = 0;
};

// A program that is linked with -ffast-math flushes subnormals, and its threads inherit that.
TEST(KMeans, DoesNotFlushSubnormalsIfTheCallerDoes) {
  if (!FlushedSubnormals::kKnown) GTEST_SKIP() << "the processor's modes are not known";
  const Matrix blobs = nine_blobs();
  std::vector<float> values;
  for (std::int64_t i = 0; i < blobs.rows; ++i) {
    for (std::int64_t j = 0; j < blobs.columns; ++j) {
      values.push_back(std::ldexp(static_cast<float>(std::round(blobs.at(i, j) * 1000)), -149));
    }
  }
  const Matrix samples = Matrix::from_values(values, blobs.rows, blobs.columns);
  const EveryResult expected = every_result(samples);
  EveryResult found;
  bool held = false;
  {
    const FlushedSubnormals modes;
    found = every_result(samples);
    held = modes.hold();
  }
  EXPECT_TRUE(held);
  EXPECT_EQ(found, expected);
}

// load() would refuse such models, and predict() compute with values beyond the arrays.
TEST(KMeans, AModelWithValuesOfNoFitIsRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.write("model.json", "the former model");
  const Fit good = kmeans(kPoints.data(), 4, 2, 2, kSequential);
  const auto refusal = [&](const std::function<void(Model&)>& change) {
    Fit model = good;
    change(model);
    std::string message = message_of<InputError>([&] { model.save(file); });
    EXPECT_THROW(model.predict(kPoints.data(), 4), InputError) << message;
    return message;
  };
  EXPECT_EQ(refusal([](Model& model) { model.centroids[1] = std::nan(""); }),
            "the model cannot be saved: its centroids are not all finite");
  EXPECT_EQ(refusal([](Model& model) { model.feature_names = {"a"}; }),
            "the model cannot be saved: it has 1 feature name, but 2 features");
  const std::string map =
      "the model cannot be saved: its standardization must have 2 finite means and 2 deviations "
      "above 0";
  EXPECT_EQ(refusal([](Model& model) { model.standardization = Standardization{}; }), map);
  EXPECT_EQ(refusal([](Model& model) { model.standardization = {{0, 0}, {0, -1}}; }), map);
  EXPECT_EQ(TemporaryFolder::read(file), "the former model");
  Fit mapped = good;
  mapped.standardization = Standardization{};
  EXPECT_EQ(
      message_of<InputError>([&] { mapped.centroids_in_data_units(); }),
      "the model cannot return centroids in data units: its standardization has 0 means for 2 "
      "features");
}

TEST(KMeans, GivenCentroidsNeedTheirMethod) {
  KMeansOptions options = kSequential;
  options.fit.seeding.centroids = {0, 0, 1, 1};
  EXPECT_EQ(message_of<InputError>([&] { kmeans(kPoints.data(), 4, 2, 2, options); }),
            "seeding.centroids are given, but seeding.method is not SeedingMethod::file, which "
            "uses them");
}

TEST(KMeans, TheFileOfGivenCentroidsIsNotRead) {
  KMeansOptions options = kSequential;
  options.fit.seeding = {.method = SeedingMethod::file, .file = "start.csv"};
  EXPECT_EQ(message_of<InputError>([&] { kmeans(kPoints.data(), 4, 2, 2, options); }),
            "Seeding::file is 'start.csv', but Seeding::centroids is empty; the library does not "
            "read the file, so read its 2 centroids of 2 features into Seeding::centroids");
}

TEST(KMeans, StartsFromGivenCentroids) {
  KMeansOptions options = kSequential;
  options.fit.seeding = {.method = SeedingMethod::file, .centroids = {9, 9, 0, 0}};
  const Fit fit = kmeans(kPoints.data(), 4, 2, 2, options);
  EXPECT_EQ(fit.centroids, (std::vector<double>{9, 1, 0, 1}));
  EXPECT_EQ(fit.labels, (std::vector<std::int32_t>{1, 1, 0, 0}));
  EXPECT_EQ(fit.seeding_method, "file");
}

TEST(KMeans, WhatIsObservedNeedsAReceiver) {
  KMeansOptions options = kSequential;
  options.fit.observe = kObserveInertia;
  EXPECT_EQ(message_of<InputError>([&] { kmeans(kPoints.data(), 4, 2, 2, options); }),
            "KMeansOptions::fit.observe is 0x2, but on_iteration, which receives what is observed, "
            "is empty");
}

TEST(KMeans, NamesTheBackendThatHasAParameter) {
  const auto refusal = [](const std::string& parameter) {
    KMeansOptions options = kSequential;
    options.backend.parameters = {{parameter, "elkan"}};
    return message_of<InputError>([&] { kmeans(kPoints.data(), 4, 2, 2, options); });
  };
  EXPECT_EQ(refusal("algorithm"),
            "backend 'sequential': unknown parameter 'algorithm' (known: layout); openmp has a "
            "parameter of this name");
  EXPECT_EQ(refusal("speed"), "backend 'sequential': unknown parameter 'speed' (known: layout)");
  EXPECT_EQ(refusal("layuot"),
            "backend 'sequential': unknown parameter 'layuot' (did you mean 'layout'?)");
}

TEST(BackendSession, ChecksOnlyAsManyLabelsAsSamples) {
  const auto backend = load_backend(kSequential.backend);
  const Dataset dataset("points", Matrix::view(kPoints.data(), 4, 2));
  BackendSession session(backend, dataset, backend->default_parameters());
  for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{6}}) {
    EXPECT_EQ(message_of<InputError>([&] {
                session.check({1, 1, 8, 8}, std::vector<std::int32_t>(count), 1);
              }),
              fmt::format("{} labels were given, but points has 4 samples", count));
  }
  EXPECT_EQ(message_of<InputError>([&] {
              session.check({1, 1, 8}, {0, 0, 0, 0}, 1);
            }),
            "3 centroid values were given; points has 2 features");
}

// Saving such a fit would replace a good model by one that cannot be read.
TEST(KMeans, AFitWithoutCentroidsIsNotSavedAndPredictsNothing) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.write("model.json", "the former model");
  KMeansOptions options = kSequential;
  options.stop = [] { return true; };
  Fit fit = kmeans(kPoints.data(), 4, 2, 2, options);
  ASSERT_TRUE(fit.centroids.empty());
  EXPECT_EQ(
      message_of<InputError>([&] { fit.save(file); }),
      "the model has no centroids, so it cannot be saved: it is empty, or the fit was cancelled "
      "before it had any");
  EXPECT_EQ(TemporaryFolder::read(file), "the former model");
  EXPECT_EQ(message_of<InputError>([&] { fit.predict(kPoints.data(), 4); }),
            "the model has no centroids, so it cannot label samples: it is empty, or the fit was "
            "cancelled before it had any");
  fit.clusters = 2;
  fit.features = 2;
  fit.centroids = {1, 2, 3};
  EXPECT_EQ(
      message_of<InputError>([&] { fit.save(file); }),
      "the model cannot be saved: it has 3 values of centroids, but 2 clusters of 2 features");
}

TEST(KMeans, ReportsStages) {
  std::vector<std::string> stages;
  KMeansOptions options = kSequential;
  options.on_stage = [&](std::string_view stage, std::int64_t done, std::int64_t total) {
    if (done == total) stages.emplace_back(stage);
  };
  kmeans(kPoints.data(), 4, 2, 2, options);
  ASSERT_FALSE(stages.empty());
  EXPECT_EQ(stages.back(), "checking");
}

TEST(KMeans, BlocksHaveAtLeastOneRow) {
  const Dataset dataset(blob_rows({.samples = 10}), 4);
  KMeansOptions options = kSequential;
  options.block_rows = 0;
  EXPECT_NE(message_of<InputError>([&] {
              kmeans(dataset, 2, options);
            }).find("block_rows is 0; data that is not in memory is read in blocks of at least 1"),
            std::string::npos);
}

TEST(KMeans, ANegativeBlockSizeIsRefusedForDataInMemory) {
  KMeansOptions options = kSequential;
  options.block_rows = -1;
  EXPECT_EQ(message_of<InputError>([&] { kmeans(kPoints.data(), 4, 2, 2, options); }),
            "the data: block_rows is -1; it must be at least 0, or at least 1 for data that is "
            "not in memory");
  options.block_rows = 0;
  EXPECT_EQ(kmeans(kPoints.data(), 4, 2, 2, options).inertia, 4);
}

TEST(KMeans, PredictsSavesAndLoads) {
  const TemporaryFolder folder;
  const Fit fit = kmeans(kPoints.data(), 4, 2, 2, kSequential);
  EXPECT_EQ(fit.predict(kPoints.data(), 4), fit.labels);
  fit.save(folder.path() / "model.json");
  const Model model = Model::load(folder.path() / "model.json");
  EXPECT_EQ(model.centroids, fit.centroids);
  EXPECT_EQ(model.inertia, 4);
  EXPECT_EQ(model.samples, 4);
  EXPECT_EQ(model.backend, "sequential");
  const std::vector<double> others = {8.5, 1, -3, 1};
  EXPECT_EQ(model.predict(others.data(), 2, kSequential.backend),
            (std::vector<std::int32_t>{fit.labels[2], fit.labels[0]}));
}

// In the data's units, the sample is nearer to the first centroid; in standard deviations, to the
// second one.
TEST(KMeans, StandardizedModelMapsTheSamplesThatItLabels) {
  const TemporaryFolder folder;
  Model model;
  model.clusters = 2;
  model.features = 2;
  model.centroids = {0, 0, 1, 1};
  model.standardization = Standardization{{100, 0}, {10, 0.001}};
  model.save(folder.path() / "model.json");
  const Model loaded = Model::load(folder.path() / "model.json");
  ASSERT_TRUE(loaded.standardization.has_value());
  EXPECT_EQ(loaded.standardization->mean, model.standardization->mean);
  EXPECT_EQ(loaded.standardization->deviation, model.standardization->deviation);
  EXPECT_EQ(loaded.centroids_in_data_units(), (std::vector<double>{100, 0, 110, 0.001}));
  const std::vector<double> sample = {104, 0.001};
  EXPECT_EQ(loaded.predict(sample.data(), 1, kSequential.backend), (std::vector<std::int32_t>{1}));
}

TEST(KMeans, StandardizedModelRefusesWhatIsNoMatrix) {
  Model model;
  model.clusters = 1;
  model.features = 2;
  model.centroids = {0, 0};
  model.standardization = Standardization{{0, 0}, {1, 1}};
  const auto refusal = [&](const float* values, std::int64_t n) {
    return message_of<InputError>([&] { model.predict(values, n, kSequential.backend); });
  };
  EXPECT_NE(refusal(kPoints.data(), 0).find("0 rows"), std::string::npos);
  EXPECT_NE(refusal(kPoints.data(), -1).find("-1 rows"), std::string::npos);
  EXPECT_NE(refusal(kPoints.data(), std::int64_t{1} << 61).find("overflow"), std::string::npos);
}

TEST(KMeans, RefusesSamplesOfAnotherModel) {
  const Fit fit = kmeans(kPoints.data(), 4, 2, 2, kSequential);
  EXPECT_EQ(message_of<InputError>([&] { fit.predict(Matrix::view(kPoints.data(), 2, 4)); }),
            "the samples have 4 features, but the model has 2");
}

TEST(KMeans, RefusesBadArguments) {
  const auto refusal = [](std::int64_t n, std::int64_t k, const KMeansOptions& options = {}) {
    return message_of<InputError>([&] { kmeans(kPoints.data(), n, 2, k, options); });
  };
  EXPECT_EQ(refusal(4, 5), "clusters is 5; it must be 1 to 4, the number of samples in the data");
  EXPECT_NE(refusal(0, 1).find("0 rows"), std::string::npos) << refusal(0, 1);
  EXPECT_TRUE(refusal(4, 2, {.backend = {.name = "sequentail"}})
                  .starts_with("unknown backend 'sequentail' (did you mean 'sequential'?)"));
  EXPECT_TRUE(refusal(4, 2, {.backend = {.name = "sequential", .parameters = {{"speed", "1"}}}})
                  .starts_with("backend 'sequential': "));
  const std::vector<double> close = {0, 1e-160};
  EXPECT_EQ(message_of<InputError>([&] { kmeans(close.data(), 2, 1, 1); }),
            "the samples of the data differ by so little that squared distances, at most 1e-320, "
            "are too near zero for float64 (limit 1e-300); scale the data up");
}

TEST(KMeans, TakesAVectorOfSamples) {
  const Fit fit = kmeans(kPoints.data(), 4, 2, 2, kSequential);
  EXPECT_EQ(kmeans(kPoints, 2, 2, kSequential).centroids, fit.centroids);
  const std::vector<double> doubles(kPoints.begin(), kPoints.end());
  EXPECT_EQ(kmeans(doubles, 2, 2, kSequential).centroids, fit.centroids);
  EXPECT_EQ(message_of<InputError>([&] { kmeans(kPoints, 3, 2); }),
            "samples: 8 values cannot be divided into samples of 3 features; their number must be "
            "a multiple of d, which is at least 1");
  EXPECT_THROW(kmeans(doubles, 0, 2), InputError);
}

TEST(KMeans, RefusesANullPointer) {
  const std::string expected = " is a null pointer; it must point to 4 x 2 values";
  const Fit fit = kmeans(kPoints.data(), 4, 2, 2, kSequential);
  const float* const no_floats = nullptr;
  const double* const no_doubles = nullptr;
  EXPECT_EQ(message_of<InputError>([&] { kmeans(no_floats, 4, 2, 2); }), "samples" + expected);
  EXPECT_EQ(message_of<InputError>([&] { kmeans(no_doubles, 4, 2, 2); }), "samples" + expected);
  EXPECT_EQ(message_of<InputError>([&] { fit.predict(no_floats, 4); }), "values" + expected);
  EXPECT_EQ(message_of<InputError>([&] { fit.predict(no_doubles, 4); }), "values" + expected);
  EXPECT_EQ(message_of<InputError>([&] { kmeans(no_floats, 0, 2, 2); }),
            "the data: the data set has 0 rows and 2 columns; at least 1 of each is needed");
}

TEST(KMeans, CallsBackAfterEachIterationAndCancels) {
  const Dataset blobs = make_blobs({.samples = 400, .features = 2, .centers = 6, .seed = 3});
  KMeansOptions options = kSequential;
  std::vector<std::int64_t> seen;
  options.on_iteration = [&](const IterationRecord& record) {
    seen.push_back(record.iteration);
    return record.iteration < 2;
  };
  const Fit fit = kmeans(blobs, 6, options);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2}));
  EXPECT_TRUE(fit.cancelled);
  EXPECT_EQ(fit.centroids.size(), 12u);
}

TEST(KMeans, StopsDuringSeeding) {
  KMeansOptions options = kSequential;
  options.stop = [] { return true; };
  const Fit fit = kmeans(kPoints.data(), 4, 2, 2, options);
  EXPECT_TRUE(fit.cancelled);
  EXPECT_TRUE(fit.centroids.empty());
}

TEST(KMeans, ReadsADataSetInBlocks) {
  const TemporaryFolder folder;
  const Dataset blobs = make_blobs({.samples = 14000, .features = 3, .centers = 4, .seed = 5});
  const std::filesystem::path file = folder.path() / "blobs.npy";
  write_dataset(file, blobs);
  KMeansOptions options = kSequential;
  options.block_rows = 6000;  // more than 64 KiB
  const Dataset streamed(open_rows(file), options.block_rows);
  ASSERT_FALSE(streamed.in_memory());
  const Fit fit = kmeans(streamed, 4, options);
  EXPECT_EQ(fit.centroids, kmeans(blobs, 4, options).centroids);
  EXPECT_TRUE(message_of<InputError>([&] {
                fit.predict(streamed.matrix(), options.backend);
              }).ends_with("or label it with BackendSession::label())"));
}

TEST(KMeans, DoesNotReadRowByRow) {
  const Dataset blobs = make_blobs({.samples = 500, .features = 3, .centers = 4, .seed = 5});
  std::atomic<int> reads = 0;
  const auto count = [&](void*, std::int64_t) { ++reads; };
  const Dataset streamed(std::make_shared<const FaultyRows>("blobs", blobs.matrix(), 0, count), 99);
  KMeansOptions options = kSequential;
  options.block_rows = 1;
  const Fit fit = kmeans(streamed, 4, options);
  EXPECT_LT(reads, 500) << "a pass over single rows takes 500";
  EXPECT_EQ(fit.centroids, kmeans(blobs, 4, options).centroids);
}

// The interface of an Eigen matrix.
// NOLINTBEGIN(readability-identifier-naming)
template <class T, bool RowMajor>
struct LikeEigen {
  using PlainObject = LikeEigen;  // it owns its values
  static constexpr bool IsRowMajor = RowMajor;
  const T* data() const { return values.data(); }
  long rows() const { return 3; }
  long cols() const { return 2; }
  long innerStride() const { return 1; }
  long outerStride() const { return RowMajor ? 2 : 3; }
  std::vector<T> values;
};
// NOLINTEND(readability-identifier-naming)

// The interface of std::mdspan.
struct LikeMdspan {
  static constexpr std::size_t rank() { return 2; }
  const double* data_handle() const { return values; }
  std::size_t extent(std::size_t r) const { return extents[r]; }
  std::size_t stride(std::size_t r) const { return strides[r]; }
  const double* values;
  std::array<std::size_t, 2> extents;
  std::array<std::size_t, 2> strides;
};

std::vector<double> values_of(const Matrix& matrix) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) values.push_back(matrix.at(i, j));
  }
  return values;
}

TEST(MatrixView, RefersToARowMajorEigenMatrix) {
  const LikeEigen<float, true> matrix{{1, 2, 3, 4, 5, 6}};
  const Matrix view = view_matrix(matrix);
  EXPECT_EQ(view.data, matrix.values.data());
  EXPECT_EQ(view.dtype, DType::float32);
  EXPECT_EQ(values_of(view), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(MatrixView, CopiesAColumnMajorEigenMatrix) {
  const LikeEigen<double, false> matrix{{1, 3, 5, 2, 4, 6}};
  const Matrix view = view_matrix(matrix);
  EXPECT_EQ(view.dtype, DType::float64);
  EXPECT_EQ(values_of(view), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

struct OfNegativeRows : LikeEigen<double, false> {
  std::int64_t rows() const { return -1; }
};

TEST(MatrixView, LeavesInvalidShapesToTheDataSet) {
  const OfNegativeRows matrix{{{1, 3, 5, 2, 4, 6}}};
  EXPECT_EQ(message_of<InputError>([&] { kmeans(view_matrix(matrix), 1); }),
            "the data: the data set has -1 rows and 2 columns; at least 1 of each is needed");
}

TEST(MatrixView, KeepsATemporaryEigenMatrix) {
  LikeEigen<float, true> matrix{{1, 2, 3, 4, 5, 6}};
  const float* const values = matrix.values.data();
  const Matrix moved = view_matrix(std::move(matrix));
  EXPECT_EQ(moved.data, values);
  ASSERT_NE(moved.storage, nullptr);
  EXPECT_EQ(values_of(moved), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  const Matrix copied = view_matrix(LikeEigen<double, false>{{1, 3, 5, 2, 4, 6}});
  EXPECT_EQ(values_of(copied), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

// A matrix type of a program.
// NOLINTBEGIN(readability-identifier-naming)
template <class Values>
struct OwnMatrix {
  static constexpr bool IsRowMajor = true;
  const float* data() const { return values.data(); }
  long rows() const { return 2; }
  long cols() const { return 2; }
  long innerStride() const { return 1; }
  long outerStride() const { return 2; }
  Values values;
};

// Like Eigen::Ref<const MatrixXf>: refers to values of its own, which its copies do not have.
struct LikeEigenRef {
  using PlainObject = LikeEigen<float, true>;
  static constexpr bool IsRowMajor = true;
  explicit LikeEigenRef(const float* first) : own(first, first + 6), values(own.data()) {}
  LikeEigenRef(const LikeEigenRef& other) : values(other.values) {}
  LikeEigenRef& operator=(const LikeEigenRef&) = delete;
  ~LikeEigenRef() { std::fill(own.begin(), own.end(), -1.0F); }
  operator PlainObject() const { return {{values, values + 6}}; }
  const float* data() const { return values; }
  long rows() const { return 3; }
  long cols() const { return 2; }
  long innerStride() const { return 1; }
  long outerStride() const { return 2; }
  std::vector<float> own;
  const float* values;
};
// NOLINTEND(readability-identifier-naming)

TEST(MatrixView, KeepsATemporaryOfAnyTypeThatOwnsItsValues) {
  const auto by_function = [] { return OwnMatrix<std::vector<float>>{{1, 2, 3, 4}}; };
  const Matrix kept = view_matrix(by_function());
  ASSERT_NE(kept.storage, nullptr);
  EXPECT_EQ(values_of(kept), (std::vector<double>{1, 2, 3, 4}));
  // Values within the object: its destructor is trivial.
  const Matrix within = view_matrix(OwnMatrix<std::array<float, 4>>{{1, 2, 3, 4}});
  ASSERT_NE(within.storage, nullptr);
  EXPECT_EQ(values_of(within), (std::vector<double>{1, 2, 3, 4}));
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Matrix copied = view_matrix(LikeEigenRef(values.data()));
  ASSERT_NE(copied.storage, nullptr);
  EXPECT_EQ(values_of(copied), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(MatrixView, RefersToTheValuesOfATemporaryView) {
  const std::vector<float> values = {1, 2, 3, 4};
  const Matrix view = view_matrix(OwnMatrix<std::span<const float>>{values});
  EXPECT_EQ(view.data, values.data());
  EXPECT_EQ(view.storage, nullptr);
  const OwnMatrix<std::array<float, 4>> named{{1, 2, 3, 4}};
  EXPECT_EQ(view_matrix(named).data, named.values.data());
}

TEST(MatrixView, ReadsAnMdspanOfAnyStrides) {
  const std::vector<double> values = {1, 2, -1, 3, 4, -1};
  const Matrix padded = view_matrix(LikeMdspan{values.data(), {2, 2}, {3, 1}});
  EXPECT_EQ(padded.data, values.data());
  EXPECT_EQ(padded.stride, 3);
  EXPECT_EQ(values_of(padded), (std::vector<double>{1, 2, 3, 4}));
  const Matrix transposed = view_matrix(LikeMdspan{values.data(), {2, 2}, {1, 3}});
  EXPECT_EQ(values_of(transposed), (std::vector<double>{1, 3, 2, 4}));
}

}  // namespace
}  // namespace lloyd
