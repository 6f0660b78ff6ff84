// The contents of /proc and /sys in the forms of other machines.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "machine/ceilings/ceilings.hpp"
#include "machine/processors/affinity.hpp"
#include "machine/processors/caches.hpp"
#include "machine/processors/cpu.hpp"
#include "machine/system/cgroup.hpp"
#include "machine/system/memory.hpp"
#include "machine/system/openmp_runtimes.hpp"
#include "machine/system/system.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::machine {
namespace {

using Texts = std::vector<std::string>;

class MachineFiles : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    folder_.write(path, text + "\n");
  }
  void write_cpu(int processor, const std::string& file, const std::string& text) {
    write("sys/devices/system/cpu/cpu" + std::to_string(processor) + "/" + file, text);
  }
  void write_cache(int processor, int index, const Texts& level_type_size_sharers) {
    const char* names[] = {"level", "type", "size", "shared_cpu_list"};
    for (std::size_t i = 0; i < level_type_size_sharers.size(); ++i) {
      write_cpu(processor, "cache/index" + std::to_string(index) + "/" + names[i],
                level_type_size_sharers[i]);
    }
  }
  SystemFiles files() const { return SystemFiles(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

TEST(ProcessorList, IsRangesAndNumbers) {
  EXPECT_EQ(processors_of("0"), std::vector<int>{0});
  EXPECT_EQ(processors_of("0-2,8,10-11"), (std::vector<int>{0, 1, 2, 8, 10, 11}));
  EXPECT_TRUE(processors_of("").empty());
  EXPECT_TRUE(processors_of("3-1").empty());
  EXPECT_TRUE(processors_of("x").empty());
  EXPECT_TRUE(processors_of("0-99999999").empty()) << "no machine has so many";
}

TEST_F(MachineFiles, UnknownValuesStayUnknown) {
  const Cpu cpu = read_cpu(files());
  EXPECT_EQ(cpu.model, "");
  EXPECT_TRUE(cpu.features.empty());
  EXPECT_EQ(cpu.logical, 0);
  EXPECT_EQ(cpu.physical, 0);
  EXPECT_TRUE(cpu.kinds.empty());
  EXPECT_EQ(fastest_processors({0, 2}, files()), (std::vector<int>{0, 2}));
  EXPECT_EQ(cpu.governor, "");
  EXPECT_TRUE(read_caches(files()).empty());
  EXPECT_EQ(last_level_bytes({}), 0);
  EXPECT_EQ(read_memory(files()).total, 0);
  EXPECT_EQ(read_cgroup_limits(files()).cpus, 0);
  EXPECT_EQ(read_cgroup_limits(files()).memory_bytes, 0);
  EXPECT_LT(load_average(files()), 0);
}

TEST_F(MachineFiles, X86WithTwoThreadsACore) {
  write("proc/cpuinfo",
        "processor\t: 0\nmodel\t\t: 2\nmodel name\t: A Processor @ 3.0GHz\n"
        "flags\t\t: fpu sse4_2 avx2 fma avx512f avx512bw avx512_vnni\n\nprocessor\t: 1\n");
  write("sys/devices/system/cpu/online", "0-3");
  for (const int processor : {0, 1, 2, 3}) {
    write_cpu(processor, "topology/core_cpus_list", processor % 2 == 0 ? "0,2" : "1,3");
    write_cpu(processor, "cpufreq/scaling_governor", processor == 3 ? "performance" : "powersave");
  }
  const Cpu cpu = read_cpu(files());
  EXPECT_EQ(cpu.model, "A Processor @ 3.0GHz");
  EXPECT_EQ(cpu.features, (Texts{"SSE4.2", "AVX2", "FMA", "AVX-512F", "AVX-512BW", "AVX-512VNNI"}));
  EXPECT_EQ(cpu.logical, 4);
  EXPECT_EQ(cpu.physical, 2);
  EXPECT_TRUE(cpu.kinds.empty());
  EXPECT_EQ(cpu.governor, "performance, powersave");
  EXPECT_EQ(processors_of_core(2, files()), (std::vector<int>{0, 2}));
  EXPECT_EQ(processors_of_core(7, files()), std::vector<int>{7});
}

TEST_F(MachineFiles, SocketsBoostAndClocks) {
  write("sys/devices/system/cpu/online", "0-3");
  for (const int processor : {0, 1, 2, 3}) {
    write_cpu(processor, "topology/physical_package_id", processor < 2 ? "0" : "1");
    write_cpu(processor, "cpufreq/scaling_cur_freq", processor == 2 ? "3500400" : "800000");
  }
  EXPECT_EQ(read_cpu(files()).sockets, 2);
  EXPECT_FALSE(read_cpu(files()).boost.has_value());
  write("sys/devices/system/cpu/intel_pstate/no_turbo", "0");
  EXPECT_EQ(read_cpu(files()).boost, true);
  write("sys/devices/system/cpu/cpufreq/boost", "0");
  EXPECT_EQ(read_cpu(files()).boost, false);
  EXPECT_EQ(highest_clock_mhz({0, 1, 2, 3}, files()), 3500.4);
  EXPECT_EQ(highest_clock_mhz({0, 1}, files()), 800);
}

TEST_F(MachineFiles, ClocksOfAVirtualMachineAreInCpuinfo) {
  EXPECT_EQ(highest_clock_mhz({0}, files()), 0);
  write("proc/cpuinfo",
        "processor\t: 0\ncpu MHz\t\t: 2596.122\n\nprocessor\t: 1\ncpu MHz\t\t: 2700.001\n\n"
        "processor\t: 11\ncpu MHz\t\t: 3000.000\n");
  EXPECT_EQ(highest_clock_mhz({0}, files()), 2596);
  EXPECT_EQ(highest_clock_mhz({0, 1}, files()), 2700);
  EXPECT_EQ(highest_clock_mhz({11, 1}, files()), 3000);
  EXPECT_EQ(highest_clock_mhz({2}, files()), 0);
}

TEST_F(MachineFiles, ThreadsOfTheProcess) {
  EXPECT_EQ(process_threads(files()), 0);
  write("proc/self/status", "Name:\tlloyd\nThreads:\t7\n");
  EXPECT_EQ(process_threads(files()), 7);
  EXPECT_GE(process_threads(), 1);
}

TEST(Build, NamesItsLibrariesAndCommit) {
  const Build build = this_build();
  ASSERT_FALSE(build.libraries.empty());
  EXPECT_EQ(build.libraries.front().first, "fmt");
  for (const auto& [name, version] : build.libraries) EXPECT_FALSE(version.empty()) << name;
  // "" outside of a repository.
  const std::string commit = build.commit.substr(0, build.commit.find("-dirty"));
  EXPECT_TRUE(commit.empty() || commit.size() >= 12) << commit;
  EXPECT_EQ(commit.find_first_not_of("0123456789abcdef"), std::string::npos) << commit;
}

TEST_F(MachineFiles, Avx512IsNotAvx512Vnni) {
  write("proc/cpuinfo", "flags : avx512_vnni_like xavx2\nmodel name : x\n");
  EXPECT_TRUE(read_cpu(files()).features.empty());
}

TEST_F(MachineFiles, IntelHybrid) {
  write("sys/devices/system/cpu/online", "0-5");
  write("sys/devices/cpu_core/cpus", "0-1");
  write("sys/devices/cpu_atom/cpus", "2-5");
  for (int processor = 0; processor < 6; ++processor) {
    write_cpu(processor, "topology/thread_siblings_list",
              processor < 2 ? "0-1" : std::to_string(processor));
    write_cache(processor, 0,
                {"1", "Data", processor < 2 ? "48K" : "32K",
                 processor < 2 ? "0-1" : std::to_string(processor)});
    write_cache(processor, 1, {"1", "Instruction", "64K", std::to_string(processor)});
    write_cache(processor, 2, {"2", "Unified", "2048K", processor < 2 ? "0-1" : "2-5"});
    write_cache(processor, 3, {"3", "Unified", "12M", "0-5"});
  }
  const Cpu cpu = read_cpu(files());
  EXPECT_EQ(cpu.physical, 5);
  ASSERT_EQ(cpu.kinds.size(), 2u);
  EXPECT_EQ(cpu.kinds[0].name, "performance");
  EXPECT_EQ(cpu.kinds[0].processors, 2);
  EXPECT_EQ(cpu.kinds[1].name, "efficiency");
  EXPECT_EQ(cpu.kinds[1].processors, 4);
  EXPECT_EQ(fastest_processors({0, 1, 2, 3, 4}, files()), (std::vector<int>{0, 1}));
  EXPECT_EQ(fastest_processors({3, 4}, files()), (std::vector<int>{3, 4}));

  const std::vector<Cache> caches = read_caches(files());
  ASSERT_EQ(caches.size(), 4u) << "two sizes of L1, L2, L3; no instruction caches";
  EXPECT_EQ(caches[0].size_bytes, 48 << 10);
  EXPECT_EQ(caches[0].instances, 1);
  EXPECT_EQ(caches[0].shared_by, 2);
  EXPECT_EQ(caches[1].size_bytes, 32 << 10);
  EXPECT_EQ(caches[1].instances, 4);
  EXPECT_EQ(caches[2].instances, 2);
  EXPECT_EQ(caches[2].shared_by, 4);
  EXPECT_EQ(caches[3].level, 3);
  EXPECT_EQ(caches[3].size_bytes, 12 << 20);
  EXPECT_EQ(last_level_bytes(caches), 12 << 20);
}

TEST_F(MachineFiles, ArmWithBigAndLittleCores) {
  write("proc/cpuinfo",
        "processor\t: 0\nFeatures\t: fp asimd sve bf16\nCPU implementer\t: 0x41\n"
        "CPU part\t: 0xd40\n");
  for (const int processor : {0, 1, 10}) {
    write_cpu(processor, "cpu_capacity", processor == 10 ? "1024" : "446");
  }
  const Cpu cpu = read_cpu(files());
  EXPECT_EQ(cpu.model, "implementer 0x41, part 0xd40");
  EXPECT_EQ(cpu.features, (Texts{"NEON", "SVE", "BF16"}));
  EXPECT_EQ(cpu.logical, 3) << "counted in sysfs where there is no list";
  EXPECT_EQ(cpu.physical, 0) << "no topology";
  ASSERT_EQ(cpu.kinds.size(), 2u);
  EXPECT_EQ(cpu.kinds[0].name, "capacity 1024");
  EXPECT_EQ(cpu.kinds[1].processors, 2);
  EXPECT_EQ(fastest_processors({0, 1, 10}, files()), std::vector<int>{10});
  EXPECT_EQ(fastest_processors({0, 1}, files()), (std::vector<int>{0, 1}));
}

TEST_F(MachineFiles, ProcessorsAreCountedInCpuinfoWhereSysfsIsMissing) {
  write("proc/cpuinfo", "processor : 0\nModel : Board\nprocessor : 1\n");
  EXPECT_EQ(read_cpu(files()).logical, 2);
  EXPECT_EQ(read_cpu(files()).model, "Board");
}

TEST_F(MachineFiles, CgroupVersion2TakesTheTightestOfAllParents) {
  write("proc/self/cgroup", "0::/job.slice/step");
  write("sys/fs/cgroup/job.slice/cpu.max", "150000 100000");
  write("sys/fs/cgroup/job.slice/memory.max", "1073741824");
  write("sys/fs/cgroup/job.slice/step/cpu.max", "max 100000");
  write("sys/fs/cgroup/job.slice/step/memory.max", "4294967296");
  const CgroupLimits limits = read_cgroup_limits(files());
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1 << 30);
}

TEST_F(MachineFiles, CgroupVersion2WithoutLimits) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "max 100000");
  write("sys/fs/cgroup/memory.max", "max");
  EXPECT_EQ(read_cgroup_limits(files()).cpus, 0);
  EXPECT_EQ(read_cgroup_limits(files()).memory_bytes, 0);
}

TEST_F(MachineFiles, CgroupVersion1) {
  write("proc/self/cgroup",
        "4:memory:/docker/1a\n3:cpu,cpuacct:/docker/1a\n1:name=systemd:/x\n0::/");
  // Inside a container the cgroup is mounted without its path.
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912");
  EXPECT_EQ(read_cgroup_limits(files()).cpus, 0.5);
  EXPECT_EQ(read_cgroup_limits(files()).memory_bytes, 512 << 20);
}

TEST_F(MachineFiles, CgroupVersion1InAFolderOfAnotherName) {
  write("proc/self/cgroup", "3:cpuacct,cpu:/docker/1a");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(read_cgroup_limits(files()).cpus, 0.5);
}

TEST_F(MachineFiles, CgroupVersion1WithoutLimits) {
  write("proc/self/cgroup", "4:memory:/\n1:cpu:/");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(read_cgroup_limits(files()).cpus, 0);
  EXPECT_EQ(read_cgroup_limits(files()).memory_bytes, 0);
}

TEST_F(MachineFiles, MemoryIsInBytes) {
  write("proc/meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n");
  const Memory memory = read_memory(files());
  EXPECT_EQ(memory.total, 2 << 20);
  EXPECT_EQ(memory.available, 1 << 20);
  EXPECT_EQ(usable_memory(memory, {}), 2 << 20);
  EXPECT_EQ(usable_memory(memory, {.cpus = 0, .memory_bytes = 4096}), 4096);
  EXPECT_EQ(usable_memory(memory, {.cpus = 0, .memory_bytes = 1 << 30}), 2 << 20);
  EXPECT_EQ(usable_memory({}, {.cpus = 0, .memory_bytes = 4096}), 4096);
}

TEST_F(MachineFiles, SystemAndLoad) {
  write("etc/os-release", "NAME=\"Some\"\nPRETTY_NAME=\"Some Linux 1\"\n");
  write("proc/loadavg", "1.25 0.44 1.08 1/90 23331");
  EXPECT_TRUE(operating_system(files()).ends_with(" (Some Linux 1)"));
  EXPECT_EQ(load_average(files()), 1.25);
}

TEST(OpenmpRuntimeName, IsThatOfTheFile) {
  EXPECT_EQ(openmp_runtime_name("/usr/lib/x86_64-linux-gnu/libgomp.so.1"), "libgomp");
  EXPECT_EQ(openmp_runtime_name("/wheel/libgomp-a34b3233.so.1.0.0"), "libgomp");
  EXPECT_EQ(openmp_runtime_name("libomp.so.5"), "libomp");
  EXPECT_EQ(openmp_runtime_name("/usr/lib/llvm-14/lib/libomp5.so"), "libomp");
  EXPECT_EQ(openmp_runtime_name("/opt/intel/libiomp5.so"), "libiomp5");
  EXPECT_EQ(openmp_runtime_name("/usr/lib/libomptarget.so.14"), "");
  EXPECT_EQ(openmp_runtime_name("/libgomp/libc.so.6"), "");
  EXPECT_EQ(openmp_runtime_name(""), "");
}

TEST(UsableProcessors, AreAsManyAsTheQuotaKeepsBusy) {
  const std::vector<int> allowed = {4, 5, 6, 7};
  EXPECT_EQ(processors_within_quota(allowed, 0), allowed);
  EXPECT_EQ(processors_within_quota(allowed, 8), allowed);
  EXPECT_EQ(processors_within_quota(allowed, 1.5), (std::vector<int>{4, 5}));
  EXPECT_EQ(processors_within_quota(allowed, 0.1), std::vector<int>{4});
}

TEST(MeasuredCeilings, ArePositiveAndOfOneInstructionSet) {
  const std::vector<int> processors = allowed_processors();
  ASSERT_FALSE(processors.empty());
  // A small buffer suffices: the test only checks that every rate is measured.
  const Ceilings ceilings = measure_ceilings(processors, 0, 64 << 20);
  EXPECT_EQ(ceilings.threads, static_cast<std::int64_t>(processors.size()));
  EXPECT_EQ(ceilings.buffer_bytes, 16 << 20);
  EXPECT_FALSE(ceilings.instruction_set.empty());
  for (const Rate& rate :
       {ceilings.float32_gflops, ceilings.float64_gflops, ceilings.read_gbs, ceilings.triad_gbs}) {
    EXPECT_GT(rate.one_thread, 0);
    EXPECT_GT(rate.all_threads, 0);
    EXPECT_LT(rate.one_thread, 1e6) << "the work was optimized away";
  }
}

}  // namespace
}  // namespace lloyd::machine
