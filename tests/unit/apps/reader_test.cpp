// Writes to readers of messages and results: pseudoterminals.
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include <gtest/gtest.h>

#include "ipc/descriptor.hpp"
#include "output/reader.hpp"

namespace lloyd::apps {
namespace {

TEST(Reader, OfAPseudoterminalIsItsOtherEnd) {
  const Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY));
  std::array<char, 64> name{};
  if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0 ||
      ::ptsname_r(master.get(), name.data(), name.size()) != 0) {
    GTEST_SKIP() << "this machine has no pseudoterminals";
  }
  const Descriptor terminal(::open(name.data(), O_RDWR | O_NOCTTY));
  ASSERT_TRUE(terminal);
  ASSERT_EQ(write_at_once(master.get(), "line\n"), 5);
  pollfd ready{terminal.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 10000), 1);
  std::array<char, 64> line{};
  EXPECT_EQ(::read(terminal.get(), line.data(), line.size()), 5);
}

}  // namespace
}  // namespace lloyd::apps
