// The loader's checks and the registry, on a real plugin and on copies with patched bytes. See
// tests/cli/plugins/test_bad_plugins.py for refusals because of magic, platform or a missing
// section, and tests/abi/newer_host_test.cpp for an older minor version.
#include <dlfcn.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/registry.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

namespace fs = std::filesystem;

fs::path built_plugin() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "lloyd_sequential.so";
}

class Loader : public testing::Test {
 protected:
  // A copy of the built plugin with a changed header.
  template <class Change>
  fs::path patched(Change change, const std::string& name = "lloyd_patched.so") {
    std::string bytes = TemporaryFolder::read(built_plugin());
    const std::size_t at = bytes.find(std::string(kPluginMagic, sizeof(kPluginMagic)));
    EXPECT_NE(at, std::string::npos);
    PluginHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    change(header);
    std::memcpy(bytes.data() + at, &header, sizeof(header));
    return folder_.write(name, bytes);
  }

  std::string refusal(const fs::path& file) {
    return message_of<InputError>([&] { load_plugin(file); });
  }

  void expect_refusal(const fs::path& file, const std::string& part) {
    const std::string message = refusal(file);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find(file.string()), std::string::npos) << message;
  }

  TemporaryFolder folder_;
};

TEST_F(Loader, LoadsACompletePlugin) {
  const auto backend = load_plugin(built_plugin());
  EXPECT_EQ(backend->name(), "sequential");
  EXPECT_TRUE(backend->available());
  EXPECT_EQ(backend->devices().size(), 1u);
}

TEST_F(Loader, RefusesFilesThatAreNotSharedLibraries) {
  expect_refusal(folder_.path() / "nothing.so", "is not a file");
  expect_refusal(folder_.path(), "is not a file");
  Dl_info library{};  // a library that is not a plugin: the C library
  ASSERT_NE(::dladdr(::dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &library), 0);
  expect_refusal(fs::canonical(library.dli_fname), "has no section .lloyd_plugin");
}

TEST_F(Loader, RefusesEveryPieceOfAPlugin) {
  const std::string whole = TemporaryFolder::read(built_plugin());
  for (std::size_t parts = 1; parts < 40; ++parts) {
    const fs::path file = folder_.write("piece.so", whole.substr(0, whole.size() * parts / 40));
    EXPECT_NE(refusal(file), "") << parts;
  }
}

TEST_F(Loader, RefusesAnotherVersionWithBothNumbers) {
  expect_refusal(
      patched([](PluginHeader& header) { header.abi_major = 0; }),
      "was built for plugin ABI 0.0, this program has 1.0: the major numbers must be equal");
  expect_refusal(
      patched([](PluginHeader& header) { header.abi_minor = 7; }),
      "was built for plugin ABI 1.7, this program has 1.0: the plugin must not be newer");
}

TEST_F(Loader, RefusesAHeaderOfAnotherKind) {
  expect_refusal(patched([](PluginHeader& header) { header.header_size = 8; }),
                 "a plugin header of 8 bytes, where 144 are expected");
  expect_refusal(patched([](PluginHeader& header) { header.header_size = 152; }),
                 "a plugin header of 152 bytes, where 144 are expected");
  expect_refusal(patched([](PluginHeader& header) { std::strcpy(header.name, "Bad Name"); }),
                 "names its backend 'Bad Name'");
  expect_refusal(
      patched([](PluginHeader& header) { std::memset(header.name, 'x', sizeof(header.name)); }),
      "names its backend");
}

TEST_F(Loader, RegistryFindsLoadsAndRefuses) {
  fs::copy(built_plugin(), folder_.path() / "lloyd_one.so");
  patched([](PluginHeader& header) { std::strcpy(header.name, "two"); }, "lloyd_two.so");
  folder_.write("lloyd_text.so", std::string(500, 'x'));
  folder_.write("notes.so", "not looked at");
  Registry registry({folder_.path(), folder_.path()});
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"sequential", "two"}));
  ASSERT_EQ(registry.refused().size(), 1u);
  EXPECT_EQ(registry.load("two")->name(), "two");
  EXPECT_EQ(registry.load("two"), registry.load("two"));
  EXPECT_EQ(registry.load_all().size(), 2u);
  const std::string refused = message_of<InputError>([&] { registry.load("text"); });
  EXPECT_NE(refused.find("lloyd_text.so is not a shared library"), std::string::npos) << refused;
  EXPECT_EQ(message_of<InputError>([&] { registry.load("tow"); }),
            "unknown backend 'tow' (did you mean 'two'?); LLOYD_PLUGIN_PATH names further folders "
            "with plugins");
}

TEST_F(Loader, RegistryLoadsOnlyTheNamedPlugins) {
  const fs::path one = folder_.path() / "lloyd_one.so";
  fs::copy(built_plugin(), one);
  const fs::path two =
      patched([](PluginHeader& header) { std::strcpy(header.name, "two"); }, "lloyd_two.so");
  std::vector<fs::path> prepared, loaded;
  PluginLoader loader;
  loader.prepare = [&](const std::vector<fs::path>& files) { prepared = files; };
  loader.load = [&](const fs::path& file) {
    loaded.push_back(file);
    if (file == two) throw InputError("it hangs");
    return load_plugin(file);
  };
  Registry registry({folder_.path()}, loader);
  EXPECT_EQ(registry.names().size(), 2u);
  EXPECT_TRUE(loaded.empty());
  registry.load("sequential");
  EXPECT_EQ(loaded, std::vector<fs::path>{one});
  EXPECT_TRUE(prepared.empty());
  EXPECT_EQ(registry.load_all().size(), 1u);
  EXPECT_EQ(prepared, std::vector<fs::path>{two});  // the other is already loaded
  EXPECT_EQ(loaded, (std::vector<fs::path>{one, two}));
  ASSERT_EQ(registry.refused().size(), 1u);
  EXPECT_EQ(registry.refused()[0].reason, "it hangs");
}

TEST_F(Loader, TwoPluginsOfOneNameAreAnError) {
  fs::copy(built_plugin(), folder_.path() / "lloyd_a.so");
  fs::copy(built_plugin(), folder_.path() / "lloyd_b.so");
  Registry registry({folder_.path()});
  EXPECT_FALSE(registry.contains("sequential"));
  const std::string message = message_of<InputError>([&] { registry.load("sequential"); });
  EXPECT_NE(message.find("two plugins are named 'sequential'"), std::string::npos) << message;
  const std::string file = (folder_.path() / "lloyd_a.so").string();
  EXPECT_TRUE(message_of<InputError>([&] {
                registry.preferred();
              }).starts_with("no backend is available; " + file + ": two plugins are named"));
}

TEST_F(Loader, APluginHidesThoseOfLaterFolders) {
  for (const char* name : {"mine", "bundled", "twins"}) fs::create_directory(folder_.path() / name);
  const fs::path mine = folder_.path() / "mine" / "lloyd_mine.so";
  const fs::path bundled = folder_.path() / "bundled" / "lloyd_sequential.so";
  for (const fs::path& file : {mine, bundled}) fs::copy_file(built_plugin(), file);
  for (const char* name : {"lloyd_a.so", "lloyd_b.so"}) {
    fs::copy_file(built_plugin(), folder_.path() / "twins" / name);
  }
  Registry registry({mine.parent_path(), bundled.parent_path(), folder_.path() / "twins"});
  EXPECT_EQ(registry.load("sequential")->path(), mine);
  EXPECT_EQ(registry.load_all().size(), 1u);
  ASSERT_EQ(registry.refused().size(), 3u);
  EXPECT_EQ(registry.refused()[0].path, bundled);
  EXPECT_EQ(registry.refused()[0].reason,
            bundled.string() + ": not used: " + mine.string() +
                ", in a folder that is searched first, is also a plugin named 'sequential'");
}

TEST_F(Loader, ARefusedPluginIsNotReplacedByOneOfALaterFolder) {
  const fs::path mine = folder_.path() / "mine";
  const fs::path bundled = folder_.path() / "bundled";
  fs::create_directory(mine);
  fs::create_directory(bundled);
  fs::copy_file(built_plugin(), bundled / "lloyd_sequential.so");
  const fs::path broken = folder_.write("mine/lloyd_sequential.so", "\177ELF broken");
  Registry registry({mine, bundled});
  EXPECT_FALSE(registry.contains("sequential"));
  const std::string message = message_of<InputError>([&] { registry.load("sequential"); });
  EXPECT_TRUE(message.starts_with(broken.string() + " ") ||
              message.starts_with(broken.string() + ":"))
      << message;
  // A file in a later folder does not hide an earlier one.
  EXPECT_EQ(Registry({bundled, mine}).load("sequential")->name(), "sequential");
}

TEST_F(Loader, AShortageOfDescriptorsIsNotBlamedOnTheFile) {
  const fs::path plugin = built_plugin();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  // The exception is examined once the limit is restored, because UndefinedBehaviorSanitizer opens
  // a pipe to do so.
  std::exception_ptr refusal;
  try {
    read_plugin_header(plugin);
  } catch (...) {
    refusal = std::current_exception();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(refusal);
  try {
    std::rethrow_exception(refusal);
  } catch (const InputError& blame) {
    FAIL() << "the file is blamed: " << blame.what();
  } catch (const Error& shortage) {
    EXPECT_EQ(shortage.what(),
              plugin.string() +
                  " cannot be opened: Too many open files: this process may have 3, see 'ulimit "
                  "-n'");
  }
}

TEST_F(Loader, ReportsAFolderThatCannotBeRead) {
  const fs::path file = folder_.write("file", "no folder");
  Registry registry({file});
  ASSERT_EQ(registry.refused().size(), 1u);
  EXPECT_EQ(registry.refused().front().reason,
            file.string() + ": the folder cannot be read: Not a directory");
  EXPECT_EQ(message_of<InputError>([&] { registry.load("absent"); }),
            "unknown backend 'absent': no plugin was found in " + file.string() + "; " +
                registry.refused().front().reason +
                "; LLOYD_PLUGIN_PATH names further folders with plugins");
  EXPECT_TRUE(Registry({folder_.path() / "missing"}).refused().empty());
}

TEST_F(Loader, NamesTheFoldersWithoutPlugins) {
  PluginLoader loader;
  loader.advice = "look elsewhere";
  Registry registry({"/nowhere/one", "/nowhere/two"}, loader);
  EXPECT_EQ(message_of<InputError>([&] { registry.preferred(); }),
            "no backend is available: no plugin was found in /nowhere/one, /nowhere/two; look "
            "elsewhere");
  EXPECT_EQ(message_of<InputError>([&] { registry.load("absent"); }),
            "unknown backend 'absent': no plugin was found in /nowhere/one, /nowhere/two; look "
            "elsewhere");
}

TEST_F(Loader, SearchesAddedFoldersLast) {
  EXPECT_TRUE(add_plugin_folder("/installed/lib/lloyd"));
  EXPECT_TRUE(add_plugin_folder("/installed/lib/lloyd"));
  const std::vector<fs::path> folders = Registry::default_folders({"/explicit"});
  EXPECT_EQ(folders.back(), "/installed/lib/lloyd");
  EXPECT_EQ(std::count(folders.begin(), folders.end(), "/installed/lib/lloyd"), 1);
}

TEST_F(Loader, SearchesNoRelativeFolders) {
  ::setenv("LLOYD_PLUGIN_PATH", "/opt/one:relative::/opt/two:", 1);
  const std::vector<fs::path> folders = Registry::default_folders({"/explicit"});
  EXPECT_EQ(Registry::ignored_entries(), std::vector<std::string>{"relative"});
  ::unsetenv("LLOYD_PLUGIN_PATH");
  ASSERT_GE(folders.size(), 5u);  // other tests may have added folders
  for (const fs::path& folder : folders) EXPECT_TRUE(folder.is_absolute()) << folder;
  EXPECT_EQ(folders[0], "/explicit");
  EXPECT_EQ(folders[1], "/opt/one");
  EXPECT_EQ(folders[2], "/opt/two");
  EXPECT_EQ(folders[3], fs::read_symlink("/proc/self/exe").parent_path());
}

}  // namespace
}  // namespace lloyd
