// The core's part of samples in device memory, with a fake device.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <lloyd/criteria.hpp>
#include <lloyd/data/blobs.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/standardize.hpp>

#include "conformance/conformance.hpp"
#include "unit/support/fake_device_backend.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kDeviceRows = 5000;
constexpr std::int64_t kDeviceColumns = 3;

std::vector<float> float_blobs() {
  const Dataset blobs = make_blobs(
      {.samples = kDeviceRows, .features = kDeviceColumns, .centers = 5, .dtype = DType::float32});
  const auto* const values = static_cast<const float*>(blobs.matrix().data);
  return {values, values + kDeviceRows * kDeviceColumns};
}

class DeviceData : public testing::Test {
 protected:
  void SetUp() override { fake::device_lies = {}; }
  void TearDown() override { fake::device_lies = {}; }

  Dataset on_device() const {
    return {"rows", fake::copy_to_device(values_, kDeviceRows, kDeviceColumns), backend_};
  }
  Dataset on_host() const {
    return {"rows", Matrix::view(values_.data(), kDeviceRows, kDeviceColumns)};
  }

  std::vector<float> values_ = float_blobs();
  std::shared_ptr<const LoadedBackend> backend_ = fake::make_device_backend();
};

template <class Error>
std::string device_error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error of this type";
}

TEST_F(DeviceData, HasTheStatisticsOfHostData) {
  const Dataset device = on_device();
  const Dataset host = on_host();
  ASSERT_EQ(device.statistics().size(), host.statistics().size());
  EXPECT_EQ(std::memcmp(device.statistics().data(), host.statistics().data(),
                        host.statistics().size() * sizeof(FeatureStatistics)),
            0);
  EXPECT_EQ(device.mean_variance(), host.mean_variance());
  EXPECT_EQ(device.sample(17), host.sample(17));
  EXPECT_EQ(device.samples_of(std::vector<std::int64_t>{4999, 0, 4999}),
            host.samples_of(std::vector<std::int64_t>{4999, 0, 4999}));
  EXPECT_EQ(device.fingerprint(), on_device().fingerprint());
  EXPECT_TRUE(device.in_device_memory());
  EXPECT_FALSE(device.in_memory());
  EXPECT_EQ(device.matrix().data, nullptr);
  EXPECT_EQ(device.matrix().stride, kDeviceColumns);
  EXPECT_EQ(device.view().memory_space, MemorySpace::device);
  EXPECT_EQ(device.view().data, device.device_matrix()->data);
  EXPECT_EQ(host.device_matrix(), nullptr);
  values_[7] += 1;
  EXPECT_NE(device.fingerprint(), on_device().fingerprint());
}

TEST_F(DeviceData, FitsLikeHostData) {
  const Dataset device = on_device();
  const Dataset host = on_host();
  for (const SeedingMethod method :
       {SeedingMethod::kmeans_plus_plus, SeedingMethod::kmeans_parallel, SeedingMethod::random,
        SeedingMethod::first}) {
    FitOptions options;
    options.clusters = 5;
    options.restarts = 3;
    options.seeding.method = method;
    BackendSession of_device(backend_, device, backend_->default_parameters());
    BackendSession of_host(backend_, host, backend_->default_parameters());
    const Fit got = fit(of_device, options);
    const Fit expected = fit(of_host, options);
    EXPECT_EQ(got.centroids, expected.centroids);
    EXPECT_EQ(got.labels, expected.labels);
    EXPECT_EQ(got.counts, expected.counts);
    EXPECT_EQ(got.inertia, expected.inertia);
    ASSERT_TRUE(got.check.has_value());
    EXPECT_GE(got.check->samples, kMinComparedSamples);
    EXPECT_EQ(got.check->labels.wrong, 0);
    EXPECT_TRUE(std::isnan(got.check->inertia));
  }
}

TEST_F(DeviceData, IsCheckedWithAFewRows) {
  const Dataset device = on_device();
  BackendSession session(backend_, device, backend_->default_parameters());
  FitOptions options;
  options.clusters = 5;
  Fit found = fit(session, options);
  fake::FakeDeviceMemory::copies = 0;
  EXPECT_EQ(session.check(found.centroids, found.labels, found.inertia).labels.wrong, 0);
  EXPECT_EQ(fake::FakeDeviceMemory::copies, 1 + 1);  // the ends of the rows, and the chosen rows
  const std::string few = device_error_of<InputError>(
      [&] { session.check(found.centroids, found.labels, found.inertia / 1e6); });
  EXPECT_NE(few.find("of the samples alone"), std::string::npos) << few;
  for (std::int32_t& label : found.labels) label = (label + 1) % 5;
  const std::string wrong =
      device_error_of<InputError>([&] { session.check(found.centroids, found.labels, 1e300); });
  EXPECT_NE(wrong.find("is not the nearest centroid"), std::string::npos) << wrong;
  found.labels[3] = 5;
  const std::string range =
      device_error_of<InputError>([&] { session.check(found.centroids, found.labels, 1e300); });
  EXPECT_NE(range.find("labels[3] is 5"), std::string::npos) << range;
}

TEST_F(DeviceData, NoticesChangedSamples) {
  const DeviceMatrix matrix = fake::copy_to_device(values_, kDeviceRows, kDeviceColumns);
  const Dataset device("rows", matrix, backend_);
  BackendSession session(backend_, device, backend_->default_parameters());
  *const_cast<float*>(fake::flip_address(static_cast<const float*>(matrix.data))) += 1;
  const std::string text = device_error_of<InputError>([&] { session.check_samples(); });
  EXPECT_NE(text.find("the samples were changed"), std::string::npos) << text;
}

TEST_F(DeviceData, CopiesResultsWithinTheDevice) {
  const Dataset device = on_device();
  BackendSession session(backend_, device, backend_->default_parameters());
  FitOptions options;
  options.clusters = 4;
  const Fit found = fit(session, options);
  options.clusters = 6;
  fit(session, options);  // the results of the session are now those of another fit
  std::vector<double> centroids(found.centroids.size());
  std::vector<std::int32_t> labels(found.labels.size());
  std::vector<std::int64_t> counts(found.counts.size());
  DeviceArrays arrays;
  arrays.centroids = fake::flip_address(centroids.data());
  arrays.labels = fake::flip_address(labels.data());
  arrays.counts = fake::flip_address(counts.data());
  session.copy_results(found, arrays);
  EXPECT_EQ(centroids, found.centroids);
  EXPECT_EQ(labels, found.labels);
  EXPECT_EQ(counts, found.counts);
  const std::string text =
      device_error_of<InputError>([&] { session.copy_results(Fit(), arrays); });
  EXPECT_NE(text.find("that was cancelled"), std::string::npos) << text;
}

TEST_F(DeviceData, IsRefusedByHostBackends) {
  const auto host = fake::make<fake::FakeStep>("host-only");
  const std::string described = device_error_of<BackendError>(
      [&] { Dataset("rows", fake::copy_to_device(values_, kDeviceRows, kDeviceColumns), host); });
  EXPECT_EQ(described,
            "rows: the samples are in device memory, and host-only reads only samples in host "
            "memory");
  const Dataset device = on_device();
  const std::string opened = device_error_of<BackendError>(
      [&] { BackendSession(host, device, host->default_parameters()); });
  EXPECT_EQ(opened, "host-only does not support data in device memory");
  const std::string checked = device_error_of<BackendError>(
      [&] { check_fit(*host, device, host->default_parameters(), {}); });
  EXPECT_EQ(checked, "host-only: does not support data in device memory");
}

TEST_F(DeviceData, IsRefusedWithOneSentence) {
  const DeviceMatrix matrix = fake::copy_to_device(values_, kDeviceRows, kDeviceColumns);
  const auto refused = [&](const DeviceMatrix& given, const char* part) {
    const std::string text = device_error_of<Error>([&] { Dataset("rows", given, backend_); });
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  DeviceMatrix other = matrix;
  other.device = 3;
  refused(other, "are said to be on device 3");
  other = matrix;
  other.data = nullptr;
  refused(other, "the data pointer is null");
  other = matrix;
  other.stride = 2;
  refused(other, "the stride 2 is below");
  other = matrix;
  other.rows = 0;
  refused(other, "0 rows");
  other = matrix;
  other.data = values_.data();
  refused(other, "the samples are not in device memory");
  EXPECT_NE(device_error_of<InputError>([&] {
              Dataset("rows", matrix, nullptr);
            }).find("the backend is a null pointer"),
            std::string::npos);
  fake::device_lies.hides_memory = true;
  refused(matrix, "has no lloyd.device_memory/1");
}

TEST_F(DeviceData, IsNotReadByHostFunctions) {
  const Dataset device = on_device();
  const std::vector<std::int32_t> labels(kDeviceRows, 0);
  const std::vector<double> centroids(kDeviceColumns, 0);
  for (const std::function<void()>& use : std::vector<std::function<void()>>{
           [&] { standardize(device); }, [&] { inertia(device, centroids, labels); },
           [&] { seed_indices(device, 3, {}); }}) {
    const std::string text = device_error_of<Error>(use);
    EXPECT_NE(text.find("the samples are in device memory; "), std::string::npos) << text;
  }
  fake::device_lies.hides_kernels = true;
  BackendSession session(backend_, device, backend_->default_parameters());
  const std::string text = device_error_of<Error>([&] { fit(session, {.clusters = 3}); });
  EXPECT_NE(text.find("needs them in host memory"), std::string::npos) << text;
}

TEST_F(DeviceData, NotFiniteIsReportedLikeForHostData) {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    values_[4500 * kDeviceColumns + 1] = value;
    values_[4700 * kDeviceColumns] = value;
    const std::string host = device_error_of<InputError>([&] { on_host(); });
    EXPECT_EQ(device_error_of<InputError>([&] { on_device(); }), host);
    EXPECT_NE(host.find("row 4500, column 1"), std::string::npos) << host;
  }
  EXPECT_THROW(
      {
        values_[0] = std::numeric_limits<float>::quiet_NaN();
        on_device();
      },
      MissingValueError);
}

TEST_F(DeviceData, BadStatisticsAreRefused) {
  const auto refused = [&](const std::function<void(FeatureStatistics&)>& lie, const char* part) {
    fake::device_lies.describe = [&](RowsDescription& description) {
      lie(description.statistics[1]);
    };
    const std::string text = device_error_of<BackendError>([&] { on_device(); });
    EXPECT_NE(text.find("fake-device: its statistics of feature 1 are impossible: "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  refused([](auto& of) { of.minimum = std::nan(""); }, "the values are from nan");
  refused([](auto& of) { std::swap(of.minimum, of.maximum); }, "the values are from");
  refused([](auto& of) { of.mean = of.maximum + 1; }, "the mean");
  refused([](auto& of) { of.variance = -1; }, "the variance is -1");
  refused([](auto& of) { of.variance = 1e9; }, "the variance is 1000000000");
  refused([](auto& of) { of.quantum_exponent = 0; }, "the quantum is 2^0");
  // Too narrow for the first row, which the core fetches.
  refused(
      [](auto& of) {
        of.minimum = of.maximum = of.mean = 1e6;
        of.variance = 0;
        of.quantum_exponent = 6;
      },
      "the value of row 0 is");
  fake::device_lies.describe = [](RowsDescription& description) {
    description.invalid_row = 12;
    description.invalid_feature = 2;
  };
  const std::string text = device_error_of<BackendError>([&] { on_device(); });
  EXPECT_NE(text.find("it reports an infinite value in row 12, column 2, where"), std::string::npos)
      << text;
  fake::device_lies.describe = [](RowsDescription& description) {
    description.invalid_row = kDeviceRows;
  };
  EXPECT_THROW(on_device(), BackendError);
}

// The cases themselves, and the core's part of them.
TEST_F(DeviceData, FakeDevicePassesTheSuite) {
  conformance::Options options;
  options.glob = "device-data/*";
  const conformance::Report report = conformance::run(*backend_, options);
  for (const conformance::Result& result : report.results) {
    EXPECT_NE(result.outcome, conformance::Outcome::failed)
        << result.name << ": " << result.message;
  }
  EXPECT_GE(report.passed, 9);
}

}  // namespace
}  // namespace lloyd
