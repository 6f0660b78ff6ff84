// Registers one GoogleTest for each case of the conformance suite and each plugin beside this
// program, at run time: a new plugin is tested without a change here. For an unavailable backend,
// the refusals are tested.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lloyd/fit.hpp>
#include <lloyd/registry.hpp>

#include "conformance/conformance.hpp"

namespace {

namespace conformance = lloyd::conformance;
using Backend = std::shared_ptr<const lloyd::LoadedBackend>;

class ConformanceTest : public testing::Test {
 public:
  ConformanceTest(Backend backend, std::string case_name)
      : backend_(std::move(backend)), case_name_(std::move(case_name)) {}

  void TestBody() override {
    conformance::Options options;
    options.glob = case_name_;
    const conformance::Report report = conformance::run(*backend_, options);
    if (!report.unavailable.empty()) GTEST_SKIP() << report.unavailable;
    ASSERT_GT(report.matched, 0) << "the case was not run";
    std::string reasons;
    for (const conformance::Result& result : report.results) {
      if (result.outcome == conformance::Outcome::failed) {
        ADD_FAILURE() << result.name << ": " << result.message;
      } else if (result.outcome == conformance::Outcome::skipped) {
        reasons += result.name + ": " + result.message + "\n";
      }
    }
    if (report.passed == 0 && report.failed == 0) GTEST_SKIP() << reasons;
  }

 private:
  Backend backend_;
  std::string case_name_;
};

// A backend's devices and memory estimate; if it has no device, its refusal to open a session.
class DeviceTest : public testing::Test {
 public:
  explicit DeviceTest(Backend backend) : backend_(std::move(backend)) {}

  void TestBody() override {
    const std::vector<float> values{0, 1, 2, 3};
    const lloyd::Dataset dataset("four", lloyd::Matrix::from_values(values, 4, 1));
    const lloyd::ParameterSet parameters = backend_->default_parameters();
    const lloyd::MemoryEstimate memory =
        lloyd::estimate_memory(*backend_, lloyd::make_shape(dataset, 2), parameters,
                               lloyd::make_spec({.clusters = 2}, dataset.mean_variance()));
    EXPECT_GE(memory.host_bytes + memory.device_bytes, 0);
    if (backend_->available()) {
      EXPECT_FALSE(backend_->devices().empty());
      return;
    }
    EXPECT_TRUE(backend_->devices().empty());
    lloyd::Session* session = nullptr;
    const lloyd::Status status =
        backend_->backend().open(dataset.view(), parameters.list(), &session);
    EXPECT_EQ(status.code, lloyd::StatusCode::unavailable) << status.message;
    EXPECT_EQ(session, nullptr);
  }

 private:
  Backend backend_;
};

class InterleavedTest : public testing::Test {
 public:
  InterleavedTest(Backend first, Backend second)
      : first_(std::move(first)), second_(std::move(second)) {}

  void TestBody() override {
    const conformance::Result result = conformance::run_interleaved(*first_, *second_);
    if (result.outcome == conformance::Outcome::skipped) GTEST_SKIP() << result.message;
    EXPECT_EQ(result.outcome, conformance::Outcome::passed) << result.message;
  }

 private:
  Backend first_;
  Backend second_;
};

// Fails if no plugin is available, since nothing would be tested.
class PluginsTest : public testing::Test {
 public:
  PluginsTest(std::vector<Backend> backends, std::vector<lloyd::RefusedPlugin> refused)
      : backends_(std::move(backends)), refused_(std::move(refused)) {}

  void TestBody() override {
    EXPECT_FALSE(backends_.empty()) << "no plugin was found beside the program";
    EXPECT_TRUE(std::any_of(backends_.begin(), backends_.end(), [](const Backend& backend) {
      return backend->available();
    })) << "no backend is available";
    for (const lloyd::RefusedPlugin& refused : refused_) ADD_FAILURE() << refused.reason;
  }

 private:
  std::vector<Backend> backends_;
  std::vector<lloyd::RefusedPlugin> refused_;
};

// '-' is an operator in GoogleTest's filters.
std::string test_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

template <class Test, class... Args>
void add_test(const std::string& suite, const std::string& name, const Args&... args) {
  testing::RegisterTest(test_name(suite).c_str(), test_name(name).c_str(), nullptr, nullptr,
                        __FILE__, __LINE__, [=]() -> testing::Test* { return new Test(args...); });
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  lloyd::Registry registry({folder});
  const std::vector<Backend> backends = registry.load_all();
  add_test<PluginsTest>("plugins", "found", backends, registry.refused());
  for (const Backend& backend : backends) {
    add_test<DeviceTest>(backend->name(), "device", backend);
    if (!backend->available()) continue;
    for (const std::string& name : conformance::case_names()) {
      add_test<ConformanceTest>(backend->name(), name, backend, name);
    }
  }
  for (std::size_t first = 0; first < backends.size(); ++first) {
    for (std::size_t second = first + 1; second < backends.size(); ++second) {
      if (!backends[first]->available() || !backends[second]->available()) continue;
      add_test<InterleavedTest>("interleaved",
                                backends[first]->name() + "/" + backends[second]->name(),
                                backends[first], backends[second]);
    }
  }
  return RUN_ALL_TESTS();
}
