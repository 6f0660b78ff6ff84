#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>

#include "unit/support/gzip_bytes.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

using namespace std::string_literals;

std::string gzip(const std::string& text) {
  return gzip_bytes(text, 9);
}

class GzipText : public testing::Test {
 protected:
  Dataset read(const std::string& bytes, const char* name = "t.csv.gz") const {
    return read_dataset(folder_.write(name, bytes));
  }

  // The refusal of the bytes, without the file's name.
  std::string refusal(const std::string& bytes) const {
    const std::string message = message_of<InputError>([&] { read(bytes); });
    const std::string prefix = (folder_.path() / "t.csv.gz").string();
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }

  TemporaryFolder folder_;
};

TEST_F(GzipText, ReadsAsTheTextInsideDoes) {
  const Dataset dataset = read(gzip("x,y,kind\n1,2,a\n3,4,b\n"), "T.CSV.GZ");
  EXPECT_EQ(dataset.name(), "T.CSV.GZ");
  EXPECT_EQ(dataset.samples(), 2);
  EXPECT_EQ(dataset.feature_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(dataset.classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(dataset.matrix().at(1, 0), 3);
  EXPECT_EQ(read(gzip("1\t2\n"), "t.tsv.gz").features(), 2);
  EXPECT_EQ(read(gzip("1,2\n"), "t.txt.gz").features(), 2);
}

TEST_F(GzipText, ReadsMembersOneAfterAnother) {
  const Dataset dataset = read(gzip("1,2\n3,") + gzip("") + gzip("4\n5,6"));
  EXPECT_EQ(dataset.samples(), 3);
  EXPECT_EQ(dataset.matrix().at(1, 1), 4);
  EXPECT_EQ(dataset.matrix().at(2, 1), 6);
}

TEST_F(GzipText, PassesOverZerosBehindTheLastMember) {
  EXPECT_EQ(read(gzip("1,2\n") + std::string(200000, '\0')).samples(), 1);
}

TEST_F(GzipText, OfManyBlocksKeepsItsLines) {
  std::string text;
  constexpr int kRows = 500000;  // about 7 MB: several blocks of text
  for (int i = 0; i < kRows; ++i) text += std::to_string(i) + "," + std::to_string(-i) + "\n";
  const Dataset dataset = read(gzip(text));
  ASSERT_EQ(dataset.samples(), kRows);
  for (int i = 0; i < kRows; ++i) {
    ASSERT_EQ(dataset.matrix().at(i, 0), i);
    ASSERT_EQ(dataset.matrix().at(i, 1), -i);
  }
  text += "1,x\n";
  EXPECT_EQ(refusal(gzip(text)).substr(0, 45), ", line 500001, column 2: 'x' is not a number;");
}

TEST_F(GzipText, MayBeginWithBlocksOfEmptyLines) {
  const std::string empty(5000000, '\n');
  EXPECT_EQ(read(gzip(empty + "1,2\n3,4\n")).samples(), 2);
  EXPECT_EQ(read(gzip("a,b" + empty + "1,2\n")).feature_names,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(refusal(gzip(empty)), ": the file holds no rows");
}

TEST_F(GzipText, RefusesDamagedFiles) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i * 7919 % 1000) + ",2\n";
  const std::string whole = gzip(text);
  std::string damaged = whole;
  for (std::size_t i = 1000; i < 1040; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  std::string checksum = whole;
  checksum[checksum.size() - 8] = static_cast<char>(~checksum[checksum.size() - 8]);
  const std::string cut = ": the gzip data is truncated: the file ends inside it";
  EXPECT_EQ(refusal(""), ": is not a gzip file: it is empty");
  EXPECT_EQ(refusal("1,2\n3,4\n"), ": is not a gzip file: it has no gzip header");
  EXPECT_EQ(refusal("\x1f"), cut);
  EXPECT_EQ(refusal("\x1f\x8b"), cut);
  EXPECT_EQ(refusal("\x1fnothing"),
            ": the gzip data is damaged near byte 2: incorrect header check");
  for (const std::size_t size :
       {std::size_t{5}, std::size_t{12}, whole.size() / 2, whole.size() - 8, whole.size() - 1}) {
    EXPECT_EQ(refusal(whole.substr(0, size)), cut) << size;
  }
  EXPECT_EQ(refusal(damaged).substr(0, 36), ": the gzip data is damaged near byte");
  EXPECT_NE(refusal(checksum).find("incorrect data check"), std::string::npos);
  EXPECT_EQ(refusal(whole + "rubbish"), ": other bytes follow the gzip data, from byte " +
                                            std::to_string(whole.size()) + " on");
  EXPECT_EQ(refusal(gzip("1,2\n3,x\n")).substr(0, 40), ", line 2, column 2: 'x' is not a number;");
}

TEST_F(GzipText, OfALineWithoutEndIsRefusedBeforeMemoryEnds) {
  const std::string member = gzip(std::string(1 << 24, '1'));
  std::string bomb;
  for (int i = 0; i < 20; ++i) bomb += member;  // 320 MiB, compressed to some kilobytes
  EXPECT_EQ(refusal(bomb), ", line 1: the line does not end within 256 MiB");
}

}  // namespace
}  // namespace lloyd
