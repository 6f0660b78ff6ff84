// Warnings of lloyd doctor and its layout on a screen, for machines other than this one.
#include <gtest/gtest.h>

#include <string>

#include "doctor/report.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::apps {
namespace {

// A machine that causes no warnings.
DoctorReport sound_machine() {
  DoctorReport report;
  report.build = {"1.2.3",        "gcc 12", "Release", "-O3", {std::pair("fmt", "9.1.0")},
                  "0123456789ab", true,     false};
  report.os = "Linux";
  report.load = 0.1;
  report.cpu.model = "A Processor";
  report.cpu.features = {"SSE4.2", "AVX2", "FMA", "AVX-512F", "AVX-512BW", "AVX-VNNI"};
  report.cpu.logical = 4;
  report.cpu.physical = 2;
  report.allowed_processors = 4;
  report.memory = {std::int64_t{8} << 30, std::int64_t{7} << 30};
  report.plugins = {{"mine", "1.0", "1.0", "/plugins/lloyd_mine.so", "a backend", ""}};
  return report;
}

std::string only_warning(const DoctorReport& report) {
  const std::vector<std::string> warnings = warnings_of(report);
  return warnings.size() == 1 ? warnings.front() : std::to_string(warnings.size()) + " warnings";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DoctorWarnings, AreEmptyOnAHealthyMachine) {
  EXPECT_TRUE(warnings_of(sound_machine()).empty());
  EXPECT_TRUE(sound_machine().usable());
}

TEST(DoctorWarnings, NameWhatIsWrong) {
  DoctorReport report = sound_machine();
  report.refused = {{"/plugins/lloyd_old.so", "/plugins/lloyd_old.so: ABI 9.0, not 1.0"}};
  EXPECT_TRUE(only_warning(report).starts_with(
      "a plugin is refused: /plugins/lloyd_old.so: ABI 9.0, not 1.0; rebuild it"));

  report = sound_machine();
  report.cgroup.cpus = 1.5;
  EXPECT_TRUE(contains(only_warning(report), "quota is 1.5 processors of 4"));
  EXPECT_TRUE(contains(only_warning(report), "--param threads=2"));
  report.cgroup.cpus = 4;
  EXPECT_TRUE(warnings_of(report).empty());

  report = sound_machine();
  report.allowed_processors = 1;
  EXPECT_TRUE(contains(only_warning(report), "may run on 1 of 4 processors"));

  report = sound_machine();
  report.cpu.governor = "powersave";
  EXPECT_TRUE(contains(only_warning(report), "governor is 'powersave'"));

  report = sound_machine();
  report.load = 2.5;
  EXPECT_TRUE(contains(only_warning(report), "load average is 2.5 on 4 processors"));

  report = sound_machine();
  report.memory.available = 1 << 20;
  EXPECT_TRUE(contains(only_warning(report), "only 1.0 MiB of 8.0 GiB"));

  report = sound_machine();
  report.openmp_runtimes = {{"libgomp", "/a/libgomp.so.1"}, {"libomp", "/b/libomp.so.5"}};
  EXPECT_TRUE(contains(only_warning(report), "2 OpenMP runtimes are loaded (libgomp and libomp)"));

  report = sound_machine();
  report.environment = {{"OMP_THREAD_LIMIT", "2"}};
  EXPECT_TRUE(contains(only_warning(report), "OMP_THREAD_LIMIT=2 is below the 4 processors"));
  report.environment = {{"OMP_THREAD_LIMIT", "4"}, {"OMP_NUM_THREADS", "1"}};
  EXPECT_TRUE(warnings_of(report).empty());

  report = sound_machine();
  report.build.sanitized = true;
  EXPECT_TRUE(contains(only_warning(report), "a build with sanitizers"));
  report.build.sanitized = false;
  report.build.optimized = false;
  EXPECT_TRUE(contains(only_warning(report), "a build without optimization"));

  report = sound_machine();
  report.ceilings_problem = "there is not enough memory";
  EXPECT_TRUE(contains(only_warning(report), "could not be measured: there is not enough memory"));
}

TEST(DoctorWarnings, DistinguishABrokenDriverFromAMissingOne) {
  DoctorReport report = sound_machine();
  report.gpus.problem = "no NVIDIA driver";
  EXPECT_TRUE(warnings_of(report).empty()) << "many machines have no GPU";
  report.gpus.driver_found = true;
  report.gpus.problem = "the NVIDIA driver does not answer: nvmlInit: Driver Not Loaded";
  EXPECT_TRUE(contains(only_warning(report), "Driver Not Loaded; 'nvidia-smi' may say more"));
}

TEST(DoctorWarnings, NameIgnoredEntriesOfThePluginPath) {
  const TemporaryFolder folder;
  DoctorReport report = sound_machine();
  report.environment = {{"LLOYD_PLUGIN_PATH", folder.path().string() + "::"}};
  EXPECT_TRUE(warnings_of(report).empty());
  report.environment[0].second = "relative:" + folder.path().string();
  EXPECT_TRUE(contains(only_warning(report), "'relative' is ignored"));
  report.environment[0].second = folder.path().string() + "/missing";
  EXPECT_TRUE(contains(only_warning(report), "/missing is not a folder"));
}

TEST(DoctorWarnings, SayWhenNothingWorks) {
  DoctorReport report = sound_machine();
  report.plugins[0].unavailable = "no device";
  EXPECT_FALSE(report.usable());
  EXPECT_TRUE(contains(only_warning(report), "no backend can run here"));
  report.plugins.clear();
  EXPECT_FALSE(report.usable());
  EXPECT_TRUE(contains(only_warning(report), "there is no plugin"));
}

TEST(DoctorText, ShowsEveryPartAndBreaksLongLines) {
  DoctorReport report = sound_machine();
  report.cpu.kinds = {{"performance", 2}, {"efficiency", 2}};
  report.caches = {{1, "Data", 32 << 10, 2, 2}, {3, "Unified", 8 << 20, 1, 4}};
  report.ceilings = machine::Ceilings{"AVX2", 4, {100, 400}, {50, 200}, {20, 60}, {15, 45}, 1};
  report.gpus.driver_found = true;
  report.gpus.driver = "570.1";
  report.gpus.cuda = "12.8";
  report.gpus.list.assign(8, {"A GPU", std::int64_t{80} << 30, "9.0"});
  report.hdf5 = {"1.14.0", "/plugins/liblloyd_hdf5.so", ""};
  report.environment = {{"OMP_PLACES", "cores"}};
  std::string long_reason = "lloyd_old.so:";
  for (int i = 0; i < 40; ++i) long_reason += " word" + std::to_string(i);
  report.refused = {{"lloyd_old.so", long_reason}};
  const std::string text = doctor_text(report);
  for (const char* part :
       {"1.2.3 0123456789ab, gcc 12, Release: -O3", "SSE4.2 AVX2 FMA AVX-512F/BW AVX-VNNI",
        "2 performance, 2 efficiency", "HDF5         1.14.0: /plugins/liblloyd_hdf5.so",
        "L1d 32.0 KiB x 2 shared by 2, L3 8.0 MiB shared by 4", "FP32 FMA, AVX2",
        "8 x A GPU, 80.0 GiB, compute capability 9.0", "CUDA up to 12.8", "OMP_PLACES=cores",
        "mine  1.0, ABI 1.0, available: a backend", "word39"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
  for (const std::string_view line : machine::lines_of(text)) EXPECT_LE(line.size(), 120u) << line;
}

}  // namespace
}  // namespace lloyd::apps
