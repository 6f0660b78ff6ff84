// Ranks, and the communicator of the tests.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/ranks.hpp>

#include "unit/support/run_ranks.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

using RankValues = std::vector<std::int64_t>;

TEST(Ranks, WithoutACommunicatorThereIsOne) {
  const Ranks ranks;
  EXPECT_EQ(ranks.rank(), 0);
  EXPECT_TRUE(ranks.alone());
  RankValues values = {3, -4};
  ranks.sum(values);
  ranks.max(values);
  ranks.broadcast(std::span(values), 0);
  EXPECT_EQ(values, RankValues({3, -4}));
  EXPECT_EQ(ranks.gather(std::int64_t{7}), RankValues({7}));
  EXPECT_EQ(message_of<InputError>([&] { ranks.together([] { throw InputError("bad"); }); }),
            "bad");
}

TEST(Ranks, ReduceBroadcastAndGather) {
  for (const int size : {1, 2, 3, 7}) {
    run_ranks(size, [&](const std::shared_ptr<Communicator>& communicator) {
      const Ranks ranks(communicator);
      const std::int64_t r = ranks.rank();
      for (int round = 0; round < 20; ++round) {
        RankValues sums = {r, 1, -2 * r};
        ranks.sum(sums);
        EXPECT_EQ(sums, RankValues({size * (size - 1) / 2, size, -size * (size - 1)}));
        std::vector<double> highest = {static_cast<double>(r), -0.5};
        ranks.max(highest);
        EXPECT_EQ(highest, (std::vector<double>{size - 1.0, -0.5}));
        RankValues sent = {r + 100, round};
        ranks.broadcast(std::span(sent), round % size);
        EXPECT_EQ(sent, RankValues({round % size + 100, round}));
        RankValues numbers(static_cast<std::size_t>(size));
        std::iota(numbers.begin(), numbers.end(), 10);
        EXPECT_EQ(ranks.gather(r + 10), numbers);
        // Rank r passes r values.
        const RankValues mine(static_cast<std::size_t>(r), r);
        RankValues together;
        for (std::int64_t rank = 0; rank < size; ++rank) {
          together.insert(together.end(), static_cast<std::size_t>(rank), rank);
        }
        EXPECT_EQ(ranks.concatenate(std::span<const std::int64_t>(mine)), together);
      }
    });
  }
}

TEST(Ranks, AllThrowTheStatusOfTheLowestThatFails) {
  run_ranks(4, [&](const std::shared_ptr<Communicator>& communicator) {
    const Ranks ranks(communicator);
    const auto work = [&] {
      if (ranks.rank() == 3) throw BackendError(StatusCode::device_error, "rank three");
      if (ranks.rank() == 2) throw InputError("bad row");
    };
    const std::string message = name_of_rank(2, host_name()) + ": bad row";
    EXPECT_EQ(message_of<AgreedError>([&] { ranks.together(work); }), message);
    EXPECT_EQ(message_of<InputError>([&] { with_core_errors([&] { ranks.together(work); }); }),
              message);
    const auto fail_alike = [] { throw InputError("no such file"); };
    EXPECT_EQ(message_of<AgreedError>([&] { ranks.together(fail_alike); }), "no such file");
    EXPECT_NO_THROW(ranks.together([] {}));  // the ranks go on
  });
}

TEST(Ranks, AreNamedWithTheirHost) {
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  EXPECT_EQ(name_of_rank(3, host_name()), std::string("rank 3 on ") + host.data());
}

TEST(Ranks, AMissingRankIsNamedAfterTheTimeout) {
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    communicator->set_timeout(0.02);
    const Ranks ranks(communicator);
    if (ranks.rank() == 1) return;
    EXPECT_EQ(message_of<StatusError>([&] { ranks.gather(1); }),
              "rank 0 waited 0.02 s for rank 1 in all_gather of 4 bytes");
  });
}

TEST(Ranks, AbortEndsTheOperationsOfAll) {
  run_ranks(3, [&](const std::shared_ptr<Communicator>& communicator) {
    const Ranks ranks(communicator);
    if (ranks.rank() == 2) ranks.abort("rank 2 ran out of memory");
    RankValues values = {1};
    EXPECT_EQ(message_of<StatusError>([&] { ranks.sum(values); }), "rank 2 ran out of memory");
    EXPECT_EQ(message_of<StatusError>([&] { ranks.gather(1); }), "rank 2 ran out of memory");
  });
}

TEST(Ranks, DifferentOperationsAreAnError) {
  run_ranks(2, [&](const std::shared_ptr<Communicator>& communicator) {
    const Ranks ranks(communicator);
    RankValues values(static_cast<std::size_t>(ranks.rank() + 1));
    const std::string message = message_of<StatusError>([&] { ranks.sum(values); });
    EXPECT_NE(message.find("all_reduce 0 of 2 int64"), std::string::npos) << message;
  });
}

}  // namespace
}  // namespace lloyd
