// A plugin's output is passed on as printable lines, however it is split into writes.
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "output/foreign_output.hpp"

namespace lloyd::apps {
namespace {

// The output on standard error for these writes and last words.
std::string passed_on(const std::vector<std::string_view>& pieces, std::string_view last_words) {
  auto [from, to] = make_pipe();
  ForeignOutput output(std::move(from));
  testing::internal::CaptureStderr();
  for (const std::string_view piece : pieces) {
    EXPECT_EQ(::write(to.get(), piece.data(), piece.size()), static_cast<ssize_t>(piece.size()));
    output.pass_on();
  }
  to.close();
  output.finish(last_words, [] { return false; });
  return testing::internal::GetCapturedStderr();
}

TEST(ForeignOutput, IsPrintable) {
  EXPECT_EQ(passed_on({"\x1b[2Jone\r\n", "two\tthree\n"}, ""), "?[2Jone?\ntwo?three\n");
}

TEST(ForeignOutput, PutsSequencesTogether) {
  EXPECT_EQ(passed_on({"caf\xc3", "\xa9\n", "\xf0\x9f", "\x98", "\x80\n"}, ""),
            "caf\xc3\xa9\n\xf0\x9f\x98\x80\n");
  EXPECT_EQ(passed_on({"cut \xe2\x82", "\n\xc3"}, ""), "cut ??\n?\n");
  EXPECT_EQ(passed_on({"\xc2", "\x9b", "1m\n"}, ""), "?1m\n");
}

TEST(ForeignOutput, LastWordsAreALine) {
  EXPECT_EQ(passed_on({}, "end\n"), "end\n");
  EXPECT_EQ(passed_on({"no line feed"}, "end\n"), "no line feed\nend\n");
  EXPECT_EQ(passed_on({"line\n"}, "end\n"), "line\nend\n");
}

TEST(ForeignOutput, KeepsTheLastWords) {
  auto [from, to] = make_pipe();
  KeptOutput kept;
  ForeignOutput output(std::move(from), &kept);
  testing::internal::CaptureStderr();
  EXPECT_EQ(::write(to.get(), "tile 7\nof 4\n", 12), 12);
  to.close();
  output.finish("end\n", [] { return false; });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tile 7\nof 4\nend\n");
  EXPECT_EQ(kept.text(), "tile 7 of 4");
}

TEST(ForeignOutput, DoesNotWaitForAReaderThatIsNotThere) {
  auto [reader, messages] = make_pipe();
  const int standard_error = ::dup(STDERR_FILENO);
  ::dup2(messages.get(), STDERR_FILENO);
  const std::string much(std::size_t{1} << 17, 'x');
  auto [from, to] = make_pipe();
  ForeignOutput output(std::move(from));
  int calls = 0;
  to.close();
  output.finish(much, [&] { return ++calls == 40; });
  EXPECT_EQ(calls, 40);
  reader.close();
  output.finish({}, [] { return false; });  // unwritable output is dropped, without a signal
  ::dup2(standard_error, STDERR_FILENO);
  ::close(standard_error);
}

}  // namespace
}  // namespace lloyd::apps
