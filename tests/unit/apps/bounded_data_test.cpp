// Memory of a pass over a data file.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "options/bounded_data.hpp"

namespace lloyd::apps {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// One MiB per row, in compressed chunks.
class ChunkedSource final : public RowSource {
 public:
  ChunkedSource(std::int64_t samples, std::int64_t chunk_rows)
      : samples_(samples), chunk_rows_(chunk_rows) {}

  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return samples_; }
  std::int64_t features() const override { return kMiB / 4; }
  DType dtype() const override { return DType::float32; }
  void read(RowRange /*rows*/, void* /*values*/) const override {}
  std::int64_t reading_bytes() const override { return 2 * chunk_rows_ * kMiB; }

 private:
  std::string name_ = "chunked";
  std::int64_t samples_;
  std::int64_t chunk_rows_;
};

TEST(BoundedData, StatisticsTakeFewChunks) {
  const StatisticsBlocks one = plan_statistics(ChunkedSource(100, 100));
  EXPECT_EQ(one.rows, 100);
  EXPECT_EQ(one.bytes, 300.0 * kMiB);  // the block, and both forms of the chunk
  const StatisticsBlocks many = plan_statistics(ChunkedSource(1000, 100));
  EXPECT_EQ(many.rows, 100);
  EXPECT_EQ(many.bytes, 400.0 * kMiB);
  const StatisticsBlocks uncompressed = plan_statistics(ChunkedSource(1000, 0));
  EXPECT_EQ(uncompressed.rows, 8);
  EXPECT_EQ(uncompressed.bytes, 16.0 * kMiB);
}

}  // namespace
}  // namespace lloyd::apps
