// Marks of plugin calls.
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include <gtest/gtest.h>

#include "supervision/supervised_backend.hpp"

namespace lloyd::apps {
namespace {

TEST(MarkedCall, AForkedCopyLeavesTheMark) {
  SupervisionBoard& board = SupervisionBoard::make();
  pid_t copy = 0;
  {
    const MarkedCall call(board, PluginCall::fit);
    copy = ::fork();
    ASSERT_GE(copy, 0);
    if (copy > 0) {
      int status = 0;
      ASSERT_EQ(::waitpid(copy, &status, 0), copy);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
      EXPECT_EQ(board.call(), PluginCall::fit);
    }
  }
  if (copy == 0) ::_exit(0);  // the mark did not end the copy
  EXPECT_EQ(board.call(), PluginCall::none);
}

TEST(MarkedCall, NamesTheFunctionOfAnInterface) {
  EXPECT_EQ(to_string(PluginCall::label), "label()");
  EXPECT_EQ(to_string(PluginCall::resident_weigh), "ResidentSeeding::weigh()");
  EXPECT_EQ(to_string(PluginCall::passes_pass), "PassKernels::pass()");
  EXPECT_EQ(to_string(PluginCall::device_passes_pass), "DevicePasses::pass()");
  EXPECT_EQ(to_string(PluginCall::windows_end), "WindowedPasses::end()");
  EXPECT_EQ(to_string(PluginCall::release_backend), "release()");
}

TEST(MarkedCall, NamesACallWhileAnyRuns) {
  SupervisionBoard& board = SupervisionBoard::make();
  {
    const MarkedCall fit(board, PluginCall::fit);
    {
      const MarkedCall query(board, PluginCall::query);
      EXPECT_EQ(board.call(), PluginCall::query);
    }
    EXPECT_EQ(board.call(), PluginCall::fit);
  }
  EXPECT_EQ(board.call(), PluginCall::none);
  // Calls of two threads, of which the first to begin ends first.
  auto first = std::make_unique<MarkedCall>(board, PluginCall::open);
  auto second = std::make_unique<MarkedCall>(board, PluginCall::fit);
  first.reset();
  EXPECT_EQ(board.call(), PluginCall::fit);
  second.reset();
  EXPECT_EQ(board.call(), PluginCall::none);
}

}  // namespace
}  // namespace lloyd::apps
