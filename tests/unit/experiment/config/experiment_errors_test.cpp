// Every wrong configuration in tests/bad_inputs/config_errors.yaml is refused in one sentence with
// the place and the problem.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/config/config.hpp"
#include "experiment/plan/plan.hpp"
#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

const std::filesystem::path kTable =
    std::filesystem::path(LLOYD_TESTS_FOLDER) / "bad_inputs/config_errors.yaml";

TEST(ExperimentErrors, EachIsOneSentenceWithItsPlace) {
  const TemporaryFolder folder;
  folder.write("three.csv", "a,b\n1,2\n3,4\n5,6\n");
  folder.write("nan.csv", "a,b\n1,2\n3,nan\n");
  const std::string prefix = folder.path().string() + "/";

  const ConfigNode table = read_config(kTable);
  ASSERT_TRUE(table.is_sequence());
  EXPECT_GE(table.children.size(), 30u);
  for (const ConfigNode& entry : table.children) {
    const std::string& config = entry.find("config")->text;
    SCOPED_TRACE(config);
    const std::filesystem::path file = folder.write("c.yaml", config);
    std::string message = message_of<InputError>([&] {
      DatasetCache datasets;
      make_plan(load_experiment(file), fake::load, datasets, {});
    });
    for (std::size_t at = 0; (at = message.find(prefix)) != std::string::npos;) {
      message.erase(at, prefix.size());
    }
    EXPECT_EQ(message.find('\n'), std::string::npos);
    const std::string expected = "c.yaml:" + entry.find("message")->text;
    const bool exact = entry.find("prefix") == nullptr;
    EXPECT_EQ(exact ? message : message.substr(0, expected.size()), expected);
  }
}

TEST(ExperimentErrors, FileThatCannotBeRead) {
  const TemporaryFolder folder;
  const std::string missing = (folder.path() / "missing.yaml").string();
  EXPECT_EQ(message_of<InputError>([&] { load_experiment(missing); }),
            missing + ": cannot be opened: No such file or directory");
  EXPECT_EQ(message_of<InputError>([&] { load_experiment(folder.path()); }),
            folder.path().string() + ": is a folder, not a configuration file");
  const auto large = folder.write("large.yaml", std::string(2 << 20, ' '));
  EXPECT_EQ(
      message_of<InputError>([&] { load_experiment(large); }),
      large.string() + ": is larger than 1048576 bytes, the maximum size of a configuration file");
}

}  // namespace
}  // namespace lloyd::experiment
