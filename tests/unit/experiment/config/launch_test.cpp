// The keys of an experiment for trials on ranks, and the variants that they make.
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "experiment/config/config.hpp"
#include "experiment/config/variants.hpp"
#include "experiment/plan/plan.hpp"
#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

Experiment read_ranks(const std::string& keys, const std::vector<std::string>& overrides = {}) {
  const std::string text = "{dataset: {blobs: {}}, backends: [sequential], " + keys + "}";
  return read_experiment(parse_config(text, "c.yaml"), ".", "c", {overrides, {}});
}

std::vector<std::string> rank_labels(const std::string& keys) {
  const Experiment experiment = read_ranks(keys);
  std::vector<std::string> labels;
  for (const Variant& variant :
       make_variants(experiment.backends, fake::load, experiment.launch.ranks)) {
    labels.push_back(variant.label);
  }
  return labels;
}

TEST(ExperimentLaunch, RanksAreANumberOrAList) {
  EXPECT_TRUE(read_ranks("repeats: 2").launch.ranks.empty());
  EXPECT_EQ(read_ranks("ranks: 3").launch.ranks, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(read_ranks("ranks: [4, 1, 2]").launch.ranks, (std::vector<std::int64_t>{4, 1, 2}));
  EXPECT_EQ(read_ranks("repeats: 2", {"ranks=[1, 2]"}).launch.ranks,
            (std::vector<std::int64_t>{1, 2}));
}

TEST(ExperimentLaunch, TheLauncherIsSplitIntoWords) {
  const Launch plain = read_ranks("ranks: 2").launch;
  EXPECT_EQ(launcher_words(plain, 12), (std::vector<std::string>{"mpirun", "-n", "12"}));
  const Launch slurm =
      read_ranks("ranks: 2, launcher: 'srun  --ntasks={ranks} -c 2 x{ranks}y{ranks}'").launch;
  EXPECT_EQ(launcher_words(slurm, 3),
            (std::vector<std::string>{"srun", "--ntasks=3", "-c", "2", "x3y3"}));
  const Launch quoted = read_ranks("ranks: 2, launcher: '\"/my tools/start\" {ranks}'").launch;
  EXPECT_EQ(launcher_words(quoted, 2), (std::vector<std::string>{"/my tools/start", "2"}));
  const Launch inside = read_ranks("ranks: 2, launcher: 'start -n {ranks} --opt=\"a b\"c'").launch;
  EXPECT_EQ(launcher_words(inside, 2),
            (std::vector<std::string>{"start", "-n", "2", "--opt=a bc"}));
  EXPECT_EQ(message_of<InputError>([] { read_ranks("ranks: 2, launcher: 'start {ranks} \"a'"); }),
            "c.yaml:1:68: 'launcher' has a double quote that is not closed: 'start {ranks} \"a'");
}

TEST(ExperimentLaunch, TheLauncherIsSearchedForInThePath) {
  const TemporaryFolder folder;
  const auto program = folder.write("start", "#!/bin/sh\n");
  Launch launch;
  launch.launcher = "\"" + program.string() + "\" {ranks}";
  EXPECT_TRUE(find_launcher(launch).empty()) << "the file is not executable";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_EQ(find_launcher(launch), program);
  launch.launcher = "lloyd-has-no-such-launcher {ranks}";
  EXPECT_TRUE(find_launcher(launch).empty());
}

TEST(ExperimentLaunch, EachBackendHasAVariantForEachNumberOfRanks) {
  EXPECT_EQ(rank_labels("ranks: 2"), (std::vector<std::string>{"sequential"}));
  EXPECT_EQ(rank_labels("ranks: [2, 1]"),
            (std::vector<std::string>{"sequential ranks=2", "sequential ranks=1"}));
}

TEST(ExperimentLaunch, TheBaselineHasTheFewestRanks) {
  const auto baseline = [](const std::string& name) {
    const Experiment experiment =
        read_experiment(parse_config("{dataset: {blobs: {}}, ranks: [4, 2, 3], baseline: " + name +
                                         ", backends: [sequential, openmp: {threads: [1, 2]}]}",
                                     "c.yaml"),
                        ".", "c");
    const std::vector<Variant> variants =
        make_variants(experiment.backends, fake::load, experiment.launch.ranks);
    return variants[find_baseline(*experiment.baseline, variants)].label;
  };
  EXPECT_EQ(baseline("sequential"), "sequential ranks=2");
  EXPECT_EQ(baseline("sequential ranks=4"), "sequential ranks=4");
  EXPECT_EQ(baseline("{openmp: {threads: 2}}"), "openmp threads=2 ranks=2");
  EXPECT_EQ(message_of<InputError>([&] { baseline("openmp"); }),
            "c.yaml:1:52: the baseline could be any of: openmp threads=1 ranks=4, openmp threads=1 "
            "ranks=2, openmp threads=1 ranks=3, openmp threads=2 ranks=4, openmp threads=2 "
            "ranks=2, openmp threads=2 ranks=3; name one, such as {openmp: {threads: 1}}");
}

TEST(ExperimentLaunch, FitsAreSkippedWithoutLauncherOrPlugin) {
  const TemporaryFolder folder;
  const auto skip = [&](const std::string& launcher) {
    DatasetCache datasets;
    const Experiment experiment = read_ranks("ranks: [1, 2], launcher: '" + launcher + "'");
    const Plan plan = make_plan(experiment, fake::load, datasets, {}, {}, {folder.path().string()});
    EXPECT_EQ(plan.fits.size(), 2u);
    EXPECT_EQ(plan.fits[0].skip, plan.fits[1].skip);
    return plan.fits[0].skip;
  };
  EXPECT_EQ(
      skip("lloyd-has-no-such-launcher -n {ranks}"),
      "the launcher 'lloyd-has-no-such-launcher' is not an executable program, or not in PATH; "
      "set 'launcher' to another one");
  EXPECT_EQ(skip("/bin/sh {ranks}"),
            "this lloyd has no plugin for MPI (lloyd-communicator-mpi.so), which ranks need; build "
            "it where MPI is installed");
}

}  // namespace
}  // namespace lloyd::experiment
