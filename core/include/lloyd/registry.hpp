// Registry: finds plugins, checks them, loads them once and for all.
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
#include <lloyd/plugin/abi.hpp>
#include <lloyd/plugin/backend.hpp>

namespace lloyd {

/// A backend that passed every check of the loader. Plugins are never unloaded, so it stays valid
/// to the end of the process.
class LoadedBackend {
 public:
  /// `backend` is released with this object.
  LoadedBackend(std::filesystem::path path, const PluginHeader& header, Backend* backend,
                std::vector<DeviceInfo> devices, std::string unavailable);
  ~LoadedBackend();
  LoadedBackend(const LoadedBackend&) = delete;
  LoadedBackend& operator=(const LoadedBackend&) = delete;

  /// The backend's name, as in its plugin's header.
  const std::string& name() const { return name_; }
  /// The plugin's own version.
  const std::string& version() const { return version_; }
  /// The plugin's file.
  const std::filesystem::path& path() const { return path_; }
  /// What the backend says of itself; what a plugin of an earlier minor version cannot say has its
  /// default.
  const BackendInfo& info() const { return info_; }
  /// What its probe found; texts are printable.
  const std::vector<DeviceInfo>& devices() const { return devices_; }
  /// Why the backend cannot run here; empty when it can.
  const std::string& unavailable() const { return unavailable_; }
  /// Whether the backend can run here.
  bool available() const { return unavailable_.empty(); }
  /// Of labels on data of this type, as stated.
  Accuracy accuracy(DType dtype) const;
  /// On data of this type, as stated.
  Reproducibility reproducibility(DType dtype) const;
  /// Every parameter at its default.
  ParameterSet default_parameters() const;
  /// The plugin's object, which this one releases.
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

/// A file that looked like a plugin and was refused.
struct RefusedPlugin {
  std::filesystem::path path;  ///< the file
  std::string reason;          ///< one sentence that names the file
};

/// Reads the header of a plugin from the file, without loading it. Throws InputError, with the file
/// and both values, when it is not a plugin that this host can load.
PluginHeader read_plugin_header(const std::filesystem::path& file);

/// Loads one plugin into this process after checking its header; probes it and makes its backend.
/// Throws InputError when it is refused. A backend without a usable device is returned with
/// `unavailable()` set. What the library does while it is loaded and probed, it does to this
/// process: a crash, exit() or a hang is the caller's too.
std::unique_ptr<LoadedBackend> load_plugin(const std::filesystem::path& file);

/// Checks what a backend says of itself. Throws InputError, with the plugin's file, at what the
/// boundary does not allow.
void check_backend(const LoadedBackend& backend);

/// How a registry loads plugins.
struct PluginLoader {
  /// Loads one file; throws InputError, one sentence that names it, when it is refused.
  std::function<std::unique_ptr<LoadedBackend>(const std::filesystem::path& file)> load =
      load_plugin;
  /// Told which files are going to be loaded, so that they can load side by side; may be empty.
  std::function<void(const std::vector<std::filesystem::path>& files)> prepare = {};
};

/// The plugins of some folders. Headers are read when the registry is made; a library is loaded
/// when its backend is first asked for: load() touches the named plugin only, load_all() and
/// preferred() all of them. By default they are loaded into this process, see load_plugin(); a
/// program that must survive any plugin passes a loader that uses other processes, as lloyd does.
class Registry {
 public:
  /// Files `lloyd_*.so` of each folder that exists, in this order. A file seen twice counts once. A
  /// refused file lloyd_NAME.so hides the backend NAME of the folders after its own. A folder that
  /// cannot be read is among refused().
  explicit Registry(const std::vector<std::filesystem::path>& folders, PluginLoader loader = {});

  /// Explicit folders, then those of LLOYD_PLUGIN_PATH (full paths, separated by ':'), the folder
  /// of the running executable, and ../lib/lloyd beside it. Never the working directory: see
  /// ignored_entries().
  static std::vector<std::filesystem::path> default_folders(
      const std::vector<std::filesystem::path>& explicit_folders = {});

  /// The entries of LLOYD_PLUGIN_PATH that are not full paths: what they mean would depend on the
  /// working directory, so they are passed over. Empty entries mean nothing and are not among them.
  static std::vector<std::string> ignored_entries();

  /// Names found, sorted; not yet loaded. A name that two plugins claim is not among them.
  std::vector<std::string> names() const;
  /// Whether some plugin claims the name.
  bool contains(std::string_view name) const;
  /// Loads the named backend. Throws InputError when there is none (with the nearest name), when
  /// two plugins claim the name, or when the plugin is refused.
  std::shared_ptr<const LoadedBackend> load(std::string_view name);
  /// All that load; refusals are added to refused().
  std::vector<std::shared_ptr<const LoadedBackend>> load_all();
  /// The available backend of highest preference. Throws InputError when there is none.
  std::shared_ptr<const LoadedBackend> preferred();
  /// Files refused so far, with reasons.
  const std::vector<RefusedPlugin>& refused() const { return refused_; }

 private:
  PluginLoader loader_;
  std::map<std::string, std::vector<std::filesystem::path>, std::less<>> found_;
  std::map<std::string, std::shared_ptr<const LoadedBackend>, std::less<>> loaded_;
  std::vector<RefusedPlugin> refused_;
};

}  // namespace lloyd
