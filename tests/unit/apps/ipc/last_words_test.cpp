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
  EXPECT_EQ(words_after("0123456789", 4).text(), "6789");
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
