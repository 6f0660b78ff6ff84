// The parts of cuda-hybrid's step: division of rows, pool, search in portions.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <random>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/plugin/sdk/distance.hpp>

#include "cuda-hybrid/block_pool.hpp"
#include "cuda-hybrid/centroid_groups.hpp"
#include "cuda-hybrid/chunk_plan.hpp"
#include "unit/cuda/hybrid_fake_labeller.hpp"

namespace lloyd_cuda_hybrid {
namespace {

TEST(ChunkPlans, CutAllRowsInOrder) {
  for (const std::int64_t size : {0, 1, 2, 511, 512, 513, 4096, 40000, 1000003}) {
    for (const std::int64_t chunk : {0, 1, 7, 600, 1000, 50000}) {
      if (chunk > 0 && size / chunk > 10000) continue;
      for (const int threads : {1, 3, 16}) {
        const ChunkPlan plan({5, 5 + size}, chunk, threads);
        const std::int64_t largest = ChunkPlan::largest_chunk(size, chunk);
        std::int64_t row = 5;
        std::int64_t block = 0;
        for (std::int64_t c = 0; c < plan.chunks(); ++c) {
          const lloyd::RowRange rows = plan.chunk(c);
          ASSERT_EQ(rows.begin, row);
          ASSERT_LE(rows.size(), largest);
          for (; block < plan.blocks_of(c + 1); ++block) {
            ASSERT_EQ(plan.block(block).begin, row);
            ASSERT_GE(plan.block(block).size(), 1);
            ASSERT_EQ(plan.chunk_of(row), c);
            row = plan.block(block).end;
          }
          ASSERT_EQ(rows.end, row);
        }
        ASSERT_EQ(row, 5 + size);
      }
    }
  }
}

TEST(ChunkPlans, OfFewerRowsHaveNoLargerChunks) {
  std::int64_t former = 0;
  for (std::int64_t size = 1; size < 5000000; size = size * 9 / 8 + 1) {
    const std::int64_t largest = ChunkPlan::largest_chunk(size, 0);
    EXPECT_GE(largest, former);
    former = largest;
  }
}

TEST(BlockPools, RunEachPublishedBlockOnce) {
  BlockPool pool(4);
  for (int pass = 0; pass < 50; ++pass) {
    std::vector<std::atomic<int>> runs(100);
    pool.begin([&](int worker, std::int64_t block) {
      EXPECT_TRUE(worker >= 0 && worker < 4);
      ++runs[static_cast<std::size_t>(block)];
      return true;
    });
    for (const std::int64_t published : {1, 2, 40, 100}) {
      pool.publish(published);
      while (pool.run_one()) {
      }
      while (pool.finished() < published) std::this_thread::yield();
    }
    EXPECT_EQ(pool.end(), nullptr);
    EXPECT_FALSE(pool.stopped());
    for (const auto& run : runs) EXPECT_EQ(run, 1);
  }
}

TEST(BlockPools, EndAPassThatABodyEnds) {
  BlockPool pool(3);
  for (const bool throws : {false, true}) {
    std::atomic<int> runs = 0;
    pool.begin([&](int, std::int64_t) {
      if (++runs < 10) return true;
      if (throws) throw std::runtime_error("enough");
      return false;
    });
    pool.publish(100000);
    while (pool.run_one()) {
    }
    EXPECT_EQ(pool.end() != nullptr, throws);
    EXPECT_TRUE(pool.stopped());
    EXPECT_LE(runs, 12);  // the other two workers may each have begun one
    pool.begin([](int, std::int64_t) { return true; });
    EXPECT_FALSE(pool.run_one());
    EXPECT_EQ(pool.end(), nullptr);
  }
}

// Few distinct values, so that there are ties.
template <class Real>
void search_in_portions(std::int64_t k, std::int64_t d, int portion) {
  std::mt19937 random(static_cast<unsigned>(k * 100 + d));
  std::vector<double> centroids(static_cast<std::size_t>(k * d));
  for (double& value : centroids) value = static_cast<double>(random() % 3);
  std::vector<GroupFeature<Real>> groups;
  group_centroids(centroids.data(), k, d, groups);
  const auto size = static_cast<std::int64_t>(groups.size());
  ASSERT_EQ(size, group_features(k, d));
  for (int sample = 0; sample < 20; ++sample) {
    std::vector<float> x(static_cast<std::size_t>(2 * d));  // every other value is a feature
    for (float& value : x) value = static_cast<float>(random() % 3);
    std::vector<float> packed;
    for (std::size_t j = 0; j < x.size(); j += 2) packed.push_back(x[j]);
    NearestSearch<Real, lloyd::fake::HostDistance> search;
    for (std::int64_t begin = 0; begin < size; begin += portion) {
      const auto count = static_cast<int>(std::min<std::int64_t>(portion, size - begin));
      search.take(groups.data() + begin, count, x.data(), 2, d);
    }
    const auto expected = lloyd::nearest_centroid(packed.data(), centroids.data(), k, d);
    ASSERT_EQ(search.nearest(), expected.label) << k << ' ' << d << ' ' << portion;
  }
}

TEST(NearestSearches, FindTheLowestOfTheNearestInAnyPortions) {
  for (const std::int64_t k : {1, 2, 7, 8, 9, 16, 31, 100}) {
    for (const std::int64_t d : {1, 2, 3, 10, 65}) {
      for (const int portion : {1, 2, 7, 32, 10000}) {
        search_in_portions<float>(k, d, portion);
        search_in_portions<double>(k, d, portion);
      }
    }
  }
}

}  // namespace
}  // namespace lloyd_cuda_hybrid
