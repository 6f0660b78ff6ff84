// Processors that a process may use, and the order in which its threads take them.
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>
#include <lloyd/plugin/sdk/processor_order.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

using Processors = std::vector<int>;

TEST(UsableProcessors, AreThoseOfTheMaskWithinTheQuota) {
  EXPECT_EQ(usable_processors(16, 0), 16);
  EXPECT_EQ(usable_processors(16, 4), 4);
  EXPECT_EQ(usable_processors(2, 4), 2);
  EXPECT_EQ(usable_processors(16, 1.5), 2);
  EXPECT_EQ(usable_processors(16, 0.25), 1);
  EXPECT_EQ(usable_processors(0, 0), 1);
  EXPECT_GE(usable_processors(), 1);
  EXPECT_LE(usable_processors(), AffinityMask::of_this_thread().count());
}

TEST(AffinityMask, HoldsTheProcessorsThatItIsMadeOf) {
  for (const Processors& processors : {Processors{0}, {1, 63, 64}, {1023}, {3, 1024, 5000}}) {
    const AffinityMask mask = AffinityMask::of(processors);
    EXPECT_EQ(mask.processors(), processors);
    EXPECT_EQ(mask.count(), std::ssize(processors));
    EXPECT_TRUE(mask.has(processors.back()));
    EXPECT_FALSE(mask.has(2));
    EXPECT_FALSE(mask.has(-1));
  }
}

TEST(CoreNumbering, IsReadFromTheSiblingsOfAProcessor) {
  const auto check = [](const std::string& list, int threads, int stride) {
    const CoreNumbering numbering = CoreNumbering::of_siblings(list);
    EXPECT_EQ(numbering.threads, threads) << list;
    EXPECT_EQ(numbering.stride, stride) << list;
  };
  check("3", 1, 1);
  check("2-3", 2, 1);
  check("4-7", 4, 1);
  check("2,18", 2, 16);
  check("1,9,17,25", 4, 8);
  for (const char* other : {"", "x", "5,", "7,3", "-", "99999999999999999999,1"}) {
    check(other, 1, 1);
  }
}

TEST(CoreNumbering, IsReadFromTheFilesOfTheKernel) {
  const TemporaryFolder folder;
  const std::filesystem::path topology = folder.path() / "sys/devices/system/cpu/cpu6/topology";
  std::filesystem::create_directories(topology);
  std::ofstream(topology / "thread_siblings_list") << "6,14\n";
  EXPECT_EQ(CoreNumbering::of_processor(6, folder.path().string()).stride, 8);
  EXPECT_EQ(CoreNumbering::of_processor(7, folder.path().string()).threads, 1);
}

TEST(WorkerProcessors, BeginBehindTheCallersProcessor) {
  EXPECT_EQ(worker_processors({0, 1, 2, 3}, 2, {1, 1}), (Processors{3, 0, 1}));
  EXPECT_EQ(worker_processors({4, 6}, 6, {1, 1}), Processors{4});
  EXPECT_EQ(worker_processors({5}, 5, {1, 1}), Processors{});
}

TEST(WorkerProcessors, ShareCoresLast) {
  EXPECT_EQ(worker_processors({0, 1, 2, 3, 4, 5}, 2, {2, 1}), (Processors{4, 0, 3, 5, 1}));
  EXPECT_EQ(worker_processors({0, 1, 2, 3}, 3, {2, 2}), (Processors{0, 1, 2}));
  EXPECT_EQ(worker_processors({0, 1, 2, 3}, 0, {2, 2}), (Processors{1, 2, 3}));
}

TEST(WorkerProcessors, AreAllThatAreAllowedIfTheCallersIsUnknown) {
  EXPECT_EQ(worker_processors({0, 1}, -1, {1, 1}), (Processors{0, 1}));
}

}  // namespace
}  // namespace lloyd
