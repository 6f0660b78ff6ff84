// A data set that is read in blocks notices rows that change after its first pass.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/backend_choice.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>

namespace lloyd {
namespace {

// Rows of two values, row i has i % 97 and i % 89, changed by a function after the first pass.
class ChangingRows final : public RowSource {
 public:
  using Change = std::function<void(std::int64_t row, double* values)>;
  enum class Kind { copied, mapped };

  ChangingRows(std::int64_t samples, Kind kind) : samples_(samples), kind_(kind) {}
  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return samples_; }
  std::int64_t features() const override { return 2; }
  DType dtype() const override { return DType::float64; }
  void read(RowRange rows, void* values) const override {
    auto* row = static_cast<double*>(values);
    for (std::int64_t i = rows.begin; i < rows.end; ++i, row += 2) {
      row[0] = static_cast<double>(i % 97);
      row[1] = static_cast<double>(i % 89);
      if (change_) change_(i, row);
    }
  }
  bool reads_in_parallel() const override { return kind_ == Kind::mapped; }
  std::unique_ptr<RowMapping> map() const override;
  void change(Change change) { change_ = std::move(change); }

 private:
  std::string name_ = "changing";
  std::int64_t samples_;
  Kind kind_;
  Change change_;
};

class ChangingMapping final : public RowMapping {
 public:
  explicit ChangingMapping(const ChangingRows& source)
      : source_(source), values_(static_cast<std::size_t>(2 * source.samples())) {}
  const void* values() const override { return values_.data(); }
  void load(RowRange rows) const override { source_.read(rows, values_.data() + 2 * rows.begin); }
  void release(RowRange) const override {}

 private:
  const ChangingRows& source_;
  mutable std::vector<double> values_;
};

std::unique_ptr<RowMapping> ChangingRows::map() const {
  if (kind_ == Kind::copied) return nullptr;
  return std::make_unique<ChangingMapping>(*this);
}

// The same shift of all values: sums, labels and inertia of the passes agree with one another.
void add_one(std::int64_t, double* values) {
  values[0] += 1;
  values[1] += 1;
}

constexpr const char* kChangedRows =
    "changing: the source of rows returned values that differ from those of its first pass; it "
    "must "
    "return the same rows in every pass";

void expect_noticed(const std::shared_ptr<const LoadedBackend>& backend, ChangingRows::Kind kind,
                    std::int64_t window_rows) {
  const auto source = std::make_shared<ChangingRows>(1000, kind);
  const Dataset dataset(source, 100);
  BackendSession session(backend, dataset, backend->default_parameters(), 100, window_rows);
  const std::vector<double> centroids = {10, 10, 60, 60};
  const FitOptions options{.clusters = 2, .max_iterations = 3, .fixed_iterations = true};
  session.fit_from(centroids, options);
  source->change(add_one);
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  const std::function<void()> calls[] = {
      [&] { session.fit_from(centroids, options); }, [&] { fit(session, options); },
      [&] { session.label(centroids, 2, labels, counts); }, [&] { dataset.sample(0); }};
  for (const auto& call : calls) {
    try {
      call();
      ADD_FAILURE() << "was not noticed, window_rows " << window_rows;
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), kChangedRows);
    }
  }
}

TEST(ChangedRows, OfAWholeSourceEndFitsAndLabels) {
  const auto backend = load_backend({.name = "sequential"});
  for (const auto kind : {ChangingRows::Kind::copied, ChangingRows::Kind::mapped}) {
    for (const std::int64_t window_rows : {0, 100}) expect_noticed(backend, kind, window_rows);
  }
}

TEST(ChangedRows, AreNoticedInMappings) {
  const auto source = std::make_shared<ChangingRows>(1000, ChangingRows::Kind::mapped);
  const Dataset dataset(source, 100);
  const auto mapping = dataset.source()->map();
  mapping->load({100, 600});
  source->change(add_one);
  mapping->load({100, 256});  // without a hashed row
  EXPECT_THROW(mapping->load({100, 257}), InputError);
}

// The promise of RowHashes.
TEST(ChangedRows, AreNoticedIfSoManyAreAdjacent) {
  struct Size {
    std::int64_t samples, step;
  };
  for (const Size size : {Size{300, 256}, {262144, 256}, {300000, 293}}) {
    const std::int64_t samples = size.samples;
    const std::int64_t step = size.step;
    const auto source = std::make_shared<ChangingRows>(samples, ChangingRows::Kind::copied);
    const Dataset dataset(source, 5000);
    std::vector<double> values(2 * static_cast<std::size_t>(samples));
    const auto throws = [&](std::int64_t first, std::int64_t count) {
      source->change([=](std::int64_t row, double* changed) {
        if (row >= first && row < first + count) changed[1] += 1;
      });
      try {
        dataset.source()->read({0, samples}, values.data());
        return false;
      } catch (const InputError&) {
        return true;
      }
    };
    EXPECT_TRUE(throws(0, 1)) << samples;
    EXPECT_FALSE(throws(1, step - 1)) << samples;
    EXPECT_TRUE(throws(1, step)) << samples;
    const std::int64_t last = (samples - 1) / step * step;
    EXPECT_TRUE(throws(last, 1)) << samples;
    EXPECT_LE(last / step + 1, 1024);
  }
}

}  // namespace
}  // namespace lloyd
