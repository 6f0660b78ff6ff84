// MpiCommunicator: its operations, time-outs and failures.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/mpi_communicator.hpp>

namespace lloyd {
namespace {

std::shared_ptr<Communicator> all_ranks() {
  std::shared_ptr<Communicator> communicator = mpi_communicator(MPI_COMM_WORLD);
  communicator->set_timeout(60);
  return communicator;
}

template <class T>
Status reduce(Communicator& ranks, std::vector<T>& values, ElementType type, ReduceOp op) {
  ReduceRequest request;
  request.data = values.data();
  request.count = static_cast<std::int64_t>(values.size());
  request.type = type;
  request.op = op;
  return ranks.all_reduce(request);
}

// More values than fit into one message of MPI.
constexpr std::int64_t kManyValues = (1 << 21) + 3;

TEST(MpiCommunicator, ReducesIntegers) {
  const auto ranks = all_ranks();
  const std::int64_t size = ranks->size();
  for (const std::int64_t count :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, kManyValues}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
      std::vector<std::int64_t> values;
      std::vector<std::int64_t> expected;
      for (std::int64_t i = 0; i < count; ++i) {
        values.push_back(i * 3 - ranks->rank());
        expected.push_back(op == ReduceOp::sum   ? i * 3 * size - size * (size - 1) / 2
                           : op == ReduceOp::min ? i * 3 - (size - 1)
                                                 : i * 3);
      }
      ASSERT_TRUE(reduce(*ranks, values, ElementType::int64, op).ok());
      EXPECT_EQ(values, expected) << count;
    }
  }
}

TEST(MpiCommunicator, ReducesDoublesToTheSameBitsOnAllRanks) {
  const auto ranks = all_ranks();
  const double infinity = std::numeric_limits<double>::infinity();
  const double sign = ranks->rank() == 0 ? -1.0 : 1.0;
  const double zero = std::copysign(0.0, sign);
  std::vector<double> values = {zero, -zero, sign, -infinity * sign, 5e-324 * sign};
  const bool alone = ranks->size() == 1;
  ASSERT_TRUE(reduce(*ranks, values, ElementType::float64, ReduceOp::max).ok());
  EXPECT_EQ(values[2], alone ? -1.0 : 1.0);
  EXPECT_EQ(values[3], infinity);
  EXPECT_EQ(values[4], alone ? -5e-324 : 5e-324);
  EXPECT_EQ(std::signbit(values[0]), alone);
  EXPECT_FALSE(std::signbit(values[1]));
  values = {zero, infinity * sign, -1.0 - ranks->rank()};
  ASSERT_TRUE(reduce(*ranks, values, ElementType::float64, ReduceOp::min).ok());
  EXPECT_TRUE(std::signbit(values[0]));
  EXPECT_EQ(values[1], -infinity);
  EXPECT_EQ(values[2], -1.0 * ranks->size());
}

TEST(MpiCommunicator, RefusesWhatItCannotReduce) {
  const auto ranks = all_ranks();
  ReduceRequest request;
  request.memory_space = MemorySpace::device;
  EXPECT_EQ(ranks->all_reduce(request).code, StatusCode::unsupported);
  std::vector<double> values = {1};
  EXPECT_EQ(reduce(*ranks, values, ElementType::float64, ReduceOp::sum).code,
            StatusCode::unsupported);
}

TEST(MpiCommunicator, BroadcastsFromAnyRank) {
  const auto ranks = all_ranks();
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{5}, kManyValues}) {
    for (std::int32_t root = 0; root < ranks->size(); ++root) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(count), ranks->rank());
      ASSERT_TRUE(ranks->broadcast(values.data(), count * 8, root).ok());
      EXPECT_EQ(std::count(values.begin(), values.end(), root), count);
    }
  }
}

TEST(MpiCommunicator, GathersByAscendingRank) {
  const auto ranks = all_ranks();
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{5}, kManyValues}) {
    std::vector<std::int64_t> mine;
    for (std::int64_t i = 0; i < count; ++i) mine.push_back(ranks->rank() * count + i);
    std::vector<std::int64_t> all(static_cast<std::size_t>(count * ranks->size()), -1);
    ASSERT_TRUE(ranks->all_gather(mine.data(), count * 8, all.data()).ok());
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i], static_cast<std::int64_t>(i));
    }
  }
}

TEST(MpiCommunicator, KeepsMessagesOfTwoCommunicatorsApart) {
  const auto first = all_ranks();
  const auto second = all_ranks();
  std::vector<std::int64_t> ones = {1};
  std::vector<std::int64_t> twos = {2};
  ASSERT_TRUE(reduce(*first, ones, ElementType::int64, ReduceOp::sum).ok());
  ASSERT_TRUE(reduce(*second, twos, ElementType::int64, ReduceOp::sum).ok());
  ASSERT_TRUE(second->barrier().ok());
  EXPECT_EQ(ones[0], first->size());
  EXPECT_EQ(twos[0], 2 * first->size());
}

// Some of the tests below leave operations pending; their communicators are never freed.

TEST(MpiCommunicator, NamesTheRankThatIsMissing) {
  const auto ranks = all_ranks();
  if (ranks->size() < 2) return;
  const auto world = all_ranks();
  ranks->set_timeout(0.1);
  if (ranks->rank() != 1) {
    const Status status = ranks->barrier();
    EXPECT_EQ(status.code, StatusCode::unavailable);
    const std::string message = status.message;
    EXPECT_TRUE(message.starts_with("rank 1 on ")) << message;
    EXPECT_TRUE(message.ends_with(" did not take part in a barrier for 0.1 s")) << message;
    std::int64_t value = 0;
    EXPECT_STREQ(ranks->broadcast(&value, 8, 0).message, status.message);
  }
  ASSERT_TRUE(world->barrier().ok());
  // The rank that was missing learns of the failure.
  if (ranks->rank() == 1) {
    ranks->set_timeout(0);
    EXPECT_NE(std::string(ranks->barrier().message).find("rank 1 on "), std::string::npos);
  }
}

TEST(MpiCommunicator, WaitsForARankThatIsAtWork) {
  const auto ranks = all_ranks();
  if (ranks->size() < 2) return;
  ranks->set_timeout(0.1);
  // Longer than the others wait for a reply.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(3500);
  while (ranks->rank() == 1 && std::chrono::steady_clock::now() < end) {
    ranks->progress();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const Status status = ranks->barrier();
  EXPECT_TRUE(status.ok()) << status.message;
}

TEST(MpiCommunicator, SaysThatNoRankIsMissing) {
  const auto ranks = all_ranks();
  if (ranks->size() < 2) return;
  ranks->set_timeout(0.1);
  std::int64_t value = 1;
  // Different operations, an error of the caller: every rank waits for what another would send.
  const Status status = ranks->broadcast(&value, 8, ranks->rank() == 0 ? 1 : 0);
  const std::string message = status.message;
  EXPECT_TRUE(message.starts_with("all ranks waited 0.1 s in ")) << message;
}

TEST(MpiCommunicator, AnAbortEndsTheOperationsOfAll) {
  const auto ranks = all_ranks();
  const int last = ranks->size() - 1;
  std::vector<std::int64_t> values = {1};
  if (ranks->rank() == last) {
    // abort() may be called from any thread.
    std::thread([&] { ranks->abort("the disk is full"); }).join();
  }
  const Status status = reduce(*ranks, values, ElementType::int64, ReduceOp::sum);
  EXPECT_EQ(status.code, StatusCode::unavailable);
  EXPECT_STREQ(status.message, "the disk is full");
  EXPECT_STREQ(ranks->barrier().message, "the disk is full");
  EXPECT_EQ(ranks->reports_failure(), ranks->rank() == last);
}

}  // namespace
}  // namespace lloyd
