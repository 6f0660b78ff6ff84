// Registry: finds plugins, checks them and loads each of them once.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/abi/abi.hpp>
#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin_folder.hpp>

namespace lloyd {

/// A backend that passed all checks of the loader. Plugins are never unloaded, so the backend's
/// strings stay valid until the process ends.
class LoadedBackend {
 public:
  /// Takes ownership of `backend`, which is released with this object.
  LoadedBackend(std::filesystem::path path, const PluginHeader& header, Backend* backend,
                std::vector<DeviceInfo> devices, std::string unavailable);
  ~LoadedBackend();
  LoadedBackend(const LoadedBackend&) = delete;
  LoadedBackend& operator=(const LoadedBackend&) = delete;

  /// The name of the backend, from the plugin's header.
  const std::string& name() const { return name_; }
  /// The version of the plugin.
  const std::string& version() const { return version_; }
  /// The file of the plugin.
  const std::filesystem::path& path() const { return path_; }
  /// The description of the backend. Fields that a plugin of an earlier minor version lacks have
  /// their defaults.
  const BackendInfo& info() const { return info_; }
  /// The devices that its probe found; their names are printable.
  const std::vector<DeviceInfo>& devices() const { return devices_; }
  /// The reason why the backend cannot run on this machine; empty if it can.
  const std::string& unavailable() const { return unavailable_; }
  /// True if the backend can run on this machine.
  bool available() const { return unavailable_.empty(); }
  /// The declared label accuracy for this type of data.
  Accuracy accuracy(DType dtype) const;
  /// The declared reproducibility for this type of data.
  Reproducibility reproducibility(DType dtype) const;
  /// All parameters with their defaults.
  ParameterSet default_parameters() const;
  /// The plugin's object; this object owns it.
  Backend& backend() const { return *backend_; }

 private:
  std::filesystem::path path_;
  std::string name_;
  std::string version_;
  Backend* backend_;
  BackendInfo info_;
  std::vector<DeviceInfo> devices_;
  std::string unavailable_;
};

/// A plugin file that was refused.
struct RefusedPlugin {
  std::filesystem::path path;  ///< the file
  std::string reason;          ///< one sentence that names the file
};

/// Reads the header of a plugin from the file, without loading it. Throws InputError, with the file
/// and both values, if it is not a plugin that this program can load.
PluginHeader read_plugin_header(const std::filesystem::path& file);

/// Checks the header of a plugin, loads it into this process, probes it and creates its backend.
/// Throws InputError if the plugin is refused. If there is no usable device, the backend is
/// returned with `unavailable()` set. The plugin's code runs in this process: if it crashes, calls
/// exit() or hangs, so does the caller.
std::unique_ptr<LoadedBackend> load_plugin(const std::filesystem::path& file);

/// Checks the description of a backend. Throws InputError, with the plugin's file, if it violates
/// the plugin boundary.
void check_backend(const LoadedBackend& backend);

/// Loads plugins for a registry.
struct PluginLoader {
  /// Loads one file. Throws InputError, with one sentence that names the file, if the plugin is
  /// refused.
  std::function<std::unique_ptr<LoadedBackend>(const std::filesystem::path& file)> load =
      load_plugin;
  /// Receives the files that will be loaded next, so that they can be loaded concurrently. May be
  /// empty.
  std::function<void(const std::vector<std::filesystem::path>& files)> prepare = {};
  /// The end of the message about an unknown backend: how to add a folder with plugins.
  std::string advice = "LLOYD_PLUGIN_PATH names further folders with plugins";
};

/// The plugins of several folders. The constructor reads headers only. A library is loaded when its
/// backend is first needed: load() loads the named plugin only, load_all() and preferred() load
/// all. By default plugins are loaded into this process, see load_plugin(). A program that must
/// survive a crash of any plugin passes a loader that uses other processes, as `lloyd` does.
class Registry {
 public:
  /// Finds the files `lloyd_*.so` in each existing folder, in this order. A file that is found
  /// twice counts once. A plugin hides those of the same name in later folders, which are listed in
  /// refused(); a refused file lloyd_NAME.so hides the backend NAME of later folders. Plugins of
  /// the same name in one folder are all refused. A folder that cannot be read is listed in
  /// refused().
  explicit Registry(const std::vector<std::filesystem::path>& folders, PluginLoader loader = {});

  /// The search path: the explicit folders, then those of LLOYD_PLUGIN_PATH (absolute paths,
  /// separated by ':'), the folder of the running executable, ../lib/lloyd beside it, and those of
  /// add_plugin_folder(). The working directory is never searched: see ignored_entries().
  static std::vector<std::filesystem::path> default_folders(
      const std::vector<std::filesystem::path>& explicit_folders = {});

  /// The relative entries of LLOYD_PLUGIN_PATH. They are ignored, because they would depend on the
  /// working directory. Empty entries are not listed.
  static std::vector<std::string> ignored_entries();

  /// The names of all plugins that were found, sorted. Does not load any plugin. A name that two
  /// plugins of a folder claim is left out.
  std::vector<std::string> names() const;
  /// True if some plugin has this name.
  bool contains(std::string_view name) const;
  /// Loads the named backend. Throws InputError if there is none (with the most similar name), if
  /// two plugins of a folder claim the name, or if the plugin is refused.
  std::shared_ptr<const LoadedBackend> load(std::string_view name);
  /// Loads all plugins and returns those that load. The others are added to refused().
  std::vector<std::shared_ptr<const LoadedBackend>> load_all();
  /// The available backend with the highest preference among those that have all of these
  /// capabilities (kCapability... bits). Throws InputError if there is none.
  std::shared_ptr<const LoadedBackend> preferred(std::uint64_t capabilities = 0);
  /// The files that were refused so far, or hidden by another plugin, with reasons.
  const std::vector<RefusedPlugin>& refused() const { return refused_; }

 private:
  std::vector<std::filesystem::path> folders_;
  PluginLoader loader_;
  std::map<std::string, std::vector<std::filesystem::path>, std::less<>> found_;
  std::map<std::string, std::shared_ptr<const LoadedBackend>, std::less<>> loaded_;
  std::vector<RefusedPlugin> refused_;
};

}  // namespace lloyd
