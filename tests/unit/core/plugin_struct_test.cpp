// Structs of plugins of another minor version: existing fields are read, missing ones have their
// defaults.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/plugin_struct.hpp>

#include "bad_plugins/support/misbehaving.hpp"
#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd {
namespace {

struct Older {
  std::uint64_t struct_size = sizeof(Older);
  std::int64_t first = 1;
};

struct Newer {
  std::uint64_t struct_size = sizeof(Newer);
  std::int64_t first = 1;
  std::int64_t second = 2;
};

TEST(PluginStruct, FieldsThatAPluginLacksHaveTheirDefaults) {
  const auto older = std::make_unique<Older>();
  older->first = 10;
  const auto copy = host_copy<Newer>(older.get(), older->struct_size);
  EXPECT_EQ(copy.struct_size, sizeof(Newer));
  EXPECT_EQ(copy.first, 10);
  EXPECT_EQ(copy.second, 2);
}

TEST(PluginStruct, FieldsThatThisProgramLacksArePassedOver) {
  Newer newer;
  newer.first = 10;
  const auto copy = host_copy<Older>(&newer, newer.struct_size);
  EXPECT_EQ(copy.struct_size, sizeof(Older));
  EXPECT_EQ(copy.first, 10);
}

// Passes on records that end before their last three fields.
class ShortRecords final : public Observer {
 public:
  explicit ShortRecords(Observer* observer) : observer_(observer) {}
  bool on_iteration(const IterationRecord& record) noexcept override {
    IterationRecord shorter = record;
    shorter.struct_size = offsetof(IterationRecord, elapsed_ms);
    return observer_->on_iteration(shorter);
  }
  bool stop_requested() const noexcept override { return observer_->stop_requested(); }

 private:
  Observer* observer_;
};

class Keeping final : public Observer {
 public:
  bool on_iteration(const IterationRecord& record) noexcept override {
    records.push_back(record);
    return true;
  }
  bool stop_requested() const noexcept override { return false; }
  std::vector<IterationRecord> records;
};

TEST(PluginStruct, RecordsOfAnOlderPluginReachTheObserverWhole) {
  const Dataset dataset = make_blobs({.samples = 400, .features = 2, .centers = 6, .seed = 3});
  bad::Misbehaviour how;
  how.fit = [](Session& honest, const FitSpec& spec, Observer* observer, FitResult& result) {
    ShortRecords shorter(observer);
    return honest.fit(spec, &shorter, result);
  };
  const auto backend = std::make_shared<const LoadedBackend>(
      "fake", make_plugin_header("older", "1"),
      new bad::MisbehavingBackend(std::move(how), new StepBackend<fake::FakeStep, fake::kInfo>),
      std::vector<DeviceInfo>(1), "");
  BackendSession session(backend, dataset, backend->default_parameters());
  Keeping observer;
  const FitOptions options{.clusters = 6,
                           .observe = kObserveIterations | kObserveInertia | kObserveLabels};
  const Fit found = fit(session, options, &observer);
  ASSERT_EQ(static_cast<std::int64_t>(observer.records.size()), found.result.iterations);
  for (std::size_t i = 0; i < observer.records.size(); ++i) {
    const IterationRecord& record = observer.records[i];
    EXPECT_EQ(record.struct_size, sizeof(IterationRecord));
    EXPECT_EQ(record.iteration, static_cast<std::int64_t>(i) + 1);
    EXPECT_GT(record.inertia, 0);
    EXPECT_EQ(record.elapsed_ms, 0);
    EXPECT_EQ(record.labels, nullptr);
  }
}

}  // namespace
}  // namespace lloyd
