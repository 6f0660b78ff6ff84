// find_launched_job() and join_ranks(), with a plugin whose launcher is the test.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/launched_ranks.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

const std::vector<std::filesystem::path> kFolders = {"/nonexistent",
                                                     LLOYD_FAKE_COMMUNICATOR_FOLDER};

class LaunchedRanks : public testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("LLOYD_FAKE_RANKS");
    ::unsetenv("LLOYD_FAKE_JOINED");
  }
  static std::optional<LaunchedJob> job_of(const char* ranks) {
    ::setenv("LLOYD_FAKE_RANKS", ranks, 1);
    return find_launched_job(kFolders);
  }
  static std::string refusal(const char* joined) {
    const auto job = job_of("3");
    ::setenv("LLOYD_FAKE_JOINED", joined, 1);
    return message_of<Error>([&] { join_ranks(*job); });
  }
};

TEST_F(LaunchedRanks, FindsAJobOfSeveralProcesses) {
  EXPECT_FALSE(find_launched_job(kFolders));
  EXPECT_FALSE(job_of("1"));
  EXPECT_FALSE(job_of(""));
  const auto job = job_of("3");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->variable, "LLOYD_FAKE_RANKS");
  EXPECT_EQ(job->processes, 3);
  EXPECT_EQ(job->plugin.filename(), "lloyd-communicator-fake.so");
  EXPECT_FALSE(find_launched_job({}));
  ::setenv("LLOYD_FAKE_JOINED", "3", 1);
  EXPECT_EQ(join_ranks(*job)->size(), 3);
}

TEST_F(LaunchedRanks, AnInvalidNumberOfProcessesIsRefused) {
  for (const char* text : {"0", "-2", "two", "3x", "99999999999999999999"}) {
    EXPECT_EQ(message_of<InputError>([&] { job_of(text); }),
              "the environment variable LLOYD_FAKE_RANKS is '" + std::string(text) +
                  "'; a launcher sets it to its number of processes, 1 or more");
  }
}

TEST_F(LaunchedRanks, FailedAndIncompleteJoinsAreRefused) {
  EXPECT_NE(refusal("1").find("the launcher started 3 processes (LLOYD_FAKE_RANKS), but 1 joined"),
            std::string::npos)
      << refusal("1");
  EXPECT_NE(refusal("fails").find("lloyd-communicator-fake.so: the network is down"),
            std::string::npos);
  EXPECT_NE(refusal("nothing").find("join returned no communicator"), std::string::npos);
}

TEST_F(LaunchedRanks, AFileThatIsNoCommunicatorIsSkipped) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.write("lloyd-communicator-bad.so", "not a library");
  std::vector<std::filesystem::path> folders = kFolders;
  folders.insert(folders.begin(), folder.path());
  ::setenv("LLOYD_FAKE_RANKS", "2", 1);
  std::vector<RefusedPlugin> refused;
  const auto job = find_launched_job(folders, &refused);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->plugin.filename(), "lloyd-communicator-fake.so");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].reason.find(file.string()), std::string::npos) << refused[0].reason;
}

}  // namespace
}  // namespace lloyd
