// The keys of an experiment for the isolation and the limits of trials.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "experiment/config/config.hpp"
#include "experiment/config/isolation.hpp"
#include "text/whole_number.hpp"

namespace lloyd::experiment {
namespace {

Isolation read(const std::string& keys, const std::vector<std::string>& overrides = {}) {
  const std::string text = "{dataset: {blobs: {}}, backends: [sequential]" + keys + "}";
  return read_experiment(parse_config(text, "c.yaml"), ".", "c", {overrides, {}}).isolation;
}

TEST(Isolation, KeysAreRead) {
  EXPECT_EQ(read("").mode, IsolateMode::worker);
  EXPECT_FALSE(read("").timeout);
  EXPECT_FALSE(read("").memory_limit);
  EXPECT_TRUE(read("").cpus.empty());
  const Isolation all =
      read(", isolate: trial, timeout: 0.5, memory_limit: 1.5 GiB, cpus: [3, 0, 3]");
  EXPECT_EQ(all.mode, IsolateMode::trial);
  EXPECT_EQ(all.timeout, 0.5);
  EXPECT_EQ(all.memory_limit, 3 << 29);
  EXPECT_EQ(all.cpus, (std::vector<int>{0, 3}));
  EXPECT_EQ(read(", memory_limit: 4096").memory_limit, 4096);
  EXPECT_EQ(read(", cpus: '2,0-1'").cpus, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(read(", cpus: 2").cpus, (std::vector<int>{2}));
  EXPECT_EQ(read(", timeout: 3", {"isolate=trial", "timeout=4"}).timeout, 4);
  EXPECT_EQ(read("", {"isolate=none"}).mode, IsolateMode::none);
}

TEST(Isolation, ProcessorsAreWrittenAsTheyAreRead) {
  for (const std::string text : {"", "0", "0-1", "0-3,8", "1,3,5-7,1023"}) {
    EXPECT_EQ(format_processors(parse_processors(text)), text);
  }
  for (const std::string text : {"-1", "1-", "3-1", "0,", ",0", "0 1", "1024", "a", "0--1", "1-2-3",
                                 "99999999999999999999"}) {
    EXPECT_TRUE(parse_processors(text).empty()) << text;
  }
}

TEST(Isolation, BytesAreReadAsOptionsAre) {
  EXPECT_EQ(apps::parse_bytes("500 MB"), 500'000'000);
  EXPECT_EQ(apps::parse_bytes("1.5kib"), 1536);
  EXPECT_EQ(apps::parse_bytes("1PiB"), std::int64_t{1} << 50);
  EXPECT_EQ(apps::parse_bytes("2 EB"), 2'000'000'000'000'000'000);
  EXPECT_FALSE(apps::parse_bytes("5EiB"));
  EXPECT_FALSE(apps::parse_bytes("0"));
  EXPECT_FALSE(apps::parse_bytes("1.5"));
  EXPECT_FALSE(apps::parse_bytes("1.5 B"));
  EXPECT_FALSE(apps::parse_bytes("GiB"));
  EXPECT_FALSE(apps::parse_bytes("1e30 TiB"));
}

}  // namespace
}  // namespace lloyd::experiment
