// The configuration of the fused kernels for the limits of a device; no device is needed.
#include "cuda/fused/configuration.hpp"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace lloyd_cuda_fused {
namespace {

using lloyd_cuda::CentroidSpace;

lloyd_cuda::DeviceLimits card(int shared_bytes) {
  lloyd_cuda::DeviceLimits limits;
  limits.multiprocessors = 100;
  limits.shared_bytes_per_block = shared_bytes;
  return limits;
}

// Shared memory of a Turing card and of a Hopper card.
constexpr int kSmallCard = 64 * 1024;
constexpr int kLargeCard = 227 * 1024;

Request request(std::int64_t clusters, std::int64_t features) {
  Request request;
  request.clusters = clusters;
  request.features = features;
  request.centroid_bytes = 4;
  return request;
}

TEST(FusedConfiguration, AddsUpInTheFirstKernelWhereSumsFitBesideTheCentroids) {
  const Configuration configuration = choose(request(32, 16), card(kLargeCard));
  EXPECT_TRUE(configuration.fused);
  EXPECT_EQ(configuration.space, CentroidSpace::shared);
  EXPECT_EQ(configuration.centroids_bytes, 32 * 16 * 4);
  EXPECT_EQ(configuration.tile.count(32, 16), 1);
}

TEST(FusedConfiguration, LeavesSumsToASecondKernelWhenAskedTo) {
  Request asked = request(32, 16);
  asked.split = true;
  EXPECT_FALSE(choose(asked, card(kLargeCard)).fused);
}

TEST(FusedConfiguration, ReadsCentroidsThatDoNotFitFromGlobalMemory) {
  EXPECT_EQ(choose(request(5000, 64), card(kLargeCard)).space, CentroidSpace::global);
  Request asked = request(480, 32);  // exactly the plugin's share of constant memory
  asked.space = CentroidSpace::constant;
  EXPECT_EQ(choose(asked, card(kLargeCard)).space, CentroidSpace::constant);
  asked.clusters = 484;
  EXPECT_EQ(choose(asked, card(kLargeCard)).space, CentroidSpace::global);
  asked.clusters = 480;
  asked.centroid_bytes = 8;
  EXPECT_EQ(choose(asked, card(kLargeCard)).space, CentroidSpace::global);
}

TEST(FusedConfiguration, BlocksHaveTheRegistersOfTheirThreads) {
  const auto block_size = [](std::int64_t features, std::int64_t value_bytes, int asked_size) {
    Request asked = request(8, features);
    asked.centroid_bytes = value_bytes;
    asked.block_size = asked_size;
    return choose(asked, card(kLargeCard)).block_size;
  };
  EXPECT_EQ(block_size(32, 4, 1024), 512);
  EXPECT_EQ(block_size(32, 4, 256), 256);
  EXPECT_EQ(block_size(32, 8, 1024), 1024);
  EXPECT_EQ(block_size(16, 4, 1024), 1024);
  EXPECT_EQ(block_size(33, 4, 1024), 1024);
}

// The same feature of neighbouring clusters is in different banks of shared memory.
TEST(FusedConfiguration, StepsBetweenClustersAreOdd) {
  for (const std::int64_t d : {1, 2, 3, 8, 16, 33}) {
    const Tile tile = choose(request(20, d), card(kLargeCard)).tile;
    EXPECT_EQ(tile.cluster_step % 2, 1) << d;
    EXPECT_GE(tile.cluster_step, d);
    EXPECT_EQ(tile.copy_step % 2, 1) << d;
  }
}

TEST(FusedConfiguration, TakesAnySizeWithinTheCardsSharedMemory) {
  for (const int shared : {kSmallCard, kLargeCard}) {
    for (const std::int64_t k : {1, 2, 31, 100, 1000, 5000, 100000}) {
      for (const std::int64_t d : {1, 2, 17, 100, 5000, 1000000}) {
        for (const int limbs : {1, 4}) {
          for (const auto space :
               {CentroidSpace::shared, CentroidSpace::global, CentroidSpace::constant}) {
            Request asked = request(k, d);
            asked.limbs = limbs;
            asked.space = space;
            const Configuration chosen = choose(asked, card(shared));
            const Tile& tile = chosen.tile;
            SCOPED_TRACE(testing::Message() << shared << " bytes, k = " << k << ", d = " << d
                                            << ", limbs = " << limbs);
            EXPECT_GE(tile.clusters, 1);
            EXPECT_GE(tile.features, 1);
            EXPECT_GE(tile.copies, 1);
            const std::int64_t queues = Configuration::queue_bytes(chosen.block_size);
            EXPECT_LE(chosen.centroids_bytes + queues, shared);
            // A separate sum kernel holds neither centroids nor queues.
            EXPECT_LE(tile.bytes() + (chosen.fused ? chosen.centroids_bytes + queues : 0), shared);
            EXPECT_EQ(chosen.tile_bytes, tile.bytes());
            EXPECT_GE(tile.count(k, d) * tile.clusters * tile.features, k * d);
            EXPECT_TRUE(!chosen.fused || tile.count(k, d) == 1);
          }
        }
      }
    }
  }
}

// The words of a tile do not overlap: each sum of each copy has its own.
TEST(FusedConfiguration, EverySumHasAWordOfItsOwn) {
  for (const int limbs : {1, 3}) {
    Request asked = request(7, 5);
    asked.limbs = limbs;
    const Tile tile = choose(asked, card(kLargeCard)).tile;
    ASSERT_GT(tile.copies, 1);
    std::set<std::int64_t> words;
    for (int copy = 0; copy < tile.copies; ++copy) {
      for (int limb = 0; limb < limbs; ++limb) {
        for (std::int64_t c = 0; c < tile.clusters; ++c) {
          for (std::int64_t j = 0; j < tile.features; ++j) {
            words.insert(copy * tile.copy_step + limb * tile.limb_stride + c * tile.cluster_step +
                         j);
          }
        }
      }
    }
    EXPECT_EQ(words.size(), static_cast<std::size_t>(tile.copies * limbs * 7 * 5));
    EXPECT_LE(*words.rbegin() + 1, tile.copies * tile.copy_step);
  }
}

// With two limbs, 1000 clusters of 11 features fit a tile. Ten tiles of ten are balanced; nine of
// eleven and one of one would be as many.
TEST(FusedConfiguration, TilesAreAboutAsLarge) {
  Request asked = request(1000, 100);
  asked.limbs = 2;
  const Tile tile = choose(asked, card(kLargeCard)).tile;
  EXPECT_EQ(tile.clusters, 1000);
  EXPECT_EQ(tile.features, 10);
}

TEST(FusedConfiguration, NotesSayWhatWasChosen) {
  const auto note = [](const Request& asked, bool accumulates) {
    return note_of(asked, choose(asked, card(kLargeCard)), accumulates);
  };
  EXPECT_EQ(note(request(32, 2), true), "centroids in shared memory, sums in the same kernel");
  EXPECT_EQ(note(request(32, 2), false), "centroids in shared memory");
  Request asked = request(1000, 100);
  asked.limbs = 2;
  EXPECT_EQ(note(asked, true), "centroids in global memory, sums in a second kernel in 10 tiles");
  asked = request(8, 32);
  EXPECT_EQ(note(asked, true),
            "centroids in shared memory, blocks of 512 threads, sums in the same kernel");
}

}  // namespace
}  // namespace lloyd_cuda_fused
