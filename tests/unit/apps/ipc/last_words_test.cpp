// The tail of another process's output.
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "ipc/last_words.hpp"

namespace lloyd::apps {
namespace {

LastWords words_after(const std::string& output, std::size_t max_bytes) {
  LastWords words(max_bytes);
  const Descriptor pipe = words.take_output();
  EXPECT_EQ(::write(pipe.get(), output.data(), output.size()), std::ssize(output));
  words.drain();
  return words;
}

TEST(LastWords, OnlyTheTailIsKept) {
  EXPECT_EQ(words_after("a first\n\tline\x1b\n", 300).text(), "a first line?");
  EXPECT_EQ(words_after("0123456789", 4).text(), "...6789");
  EXPECT_EQ(words_after("0123456789", 300).text(4), "...6789");
  EXPECT_EQ(words_after("one\ntwo\nthree\nfour\n", 13).text(), "three four") << "whole lines";
  EXPECT_EQ(words_after("a rather long line\nend\n", 10).text(), "... line end") << "not too short";
  EXPECT_EQ(words_after("\u00f6\u00f6\u00f6", 3).text(), "...\u00f6") << "whole characters";
}

TEST(LastWords, TheFirstErrorPrecedesTheTail) {
  std::string log;
  for (int i = 0; i < 50; ++i) log += "frame " + std::to_string(i) + "\n";
  EXPECT_EQ(words_after("started\nError: no device\nthen a hint\n" + log, 30).text(),
            "Error: no device ... frame 47 frame 48 frame 49");
  EXPECT_EQ(words_after("started\n" + log, 30).text(), "frame 47 frame 48 frame 49");
  EXPECT_EQ(words_after(log + "Error: last\n", 30).text(), "frame 49 Error: last");
  // Text that was wrapped: the sentence to its end, but no more than 200 bytes.
  const std::string wrapped =
      "There are not enough slots available in the system to satisfy\nthe 64 slots requested.\n";
  EXPECT_EQ(words_after(wrapped + "Use fewer.\n" + log, 30).text(),
            "There are not enough slots available in the system to satisfy the 64 slots requested. "
            "... frame 47 frame 48 frame 49");
  const std::string line = "fatal: " + std::string(400, 'x');
  EXPECT_EQ(words_after(line + "\n" + log, 30).text(),
            line.substr(0, 200) + " ... frame 47 frame 48 frame 49");
  // One that reaches into the tail is not shown twice.
  EXPECT_EQ(words_after("fatal: 0123456789 end", 8).text(), "fatal: 0123456789 end");
  LastWords cleared = words_after("fatal: first\n" + log, 30);
  cleared.clear();
  EXPECT_EQ(cleared.text(), "");
}

TEST(LastWords, TheLastLineWithAPrefixIsFound) {
  const LastWords words = words_after(
      "lloyd: rank 1: out of memory\nlloyd: rank 2:\tkilled\n\n----\nmpirun noticed\nlloyd", 300);
  EXPECT_EQ(words.last_line("lloyd: "), "rank 2: killed");
  EXPECT_EQ(words.last_line("mpirun "), "noticed");
  EXPECT_EQ(words.last_line("srun: "), "");
  EXPECT_EQ(words_after("\n\n", 300).last_line("lloyd: "), "");
}

}  // namespace
}  // namespace lloyd::apps
