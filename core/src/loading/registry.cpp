#include <lloyd/registry.hpp>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>

namespace lloyd {
namespace {

namespace fs = std::filesystem;

bool is_plugin_file(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("lloyd_") && name.ends_with(".so");
}

// The backend's name according to the file's name.
std::string named_backend(const fs::path& file) {
  constexpr std::string_view kBefore = "lloyd_";
  return file.stem().string().substr(kBefore.size());
}

std::vector<fs::path> plugin_files(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> files;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_plugin_file(entry->path())) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The non-empty entries of LLOYD_PLUGIN_PATH.
std::vector<std::string> search_path() {
  std::vector<std::string> entries;
  const char* const variable = std::getenv("LLOYD_PLUGIN_PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) entries.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return entries;
}

bool is_full_path(std::string_view entry) {
  return entry.starts_with('/');
}

struct AddedFolders {
  std::mutex mutex;
  std::vector<fs::path> folders;
};

// A function, because the folders are added while static objects are initialised.
AddedFolders& added_folders() {
  static AddedFolders added;
  return added;
}

// The folders for a message: "in A, B".
std::string places(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) names.push_back(folder.string());
  return fmt::format("in {}", fmt::join(names, ", "));
}

// The end of a message: the first three reasons why backends cannot be used.
std::string first_reasons(const std::vector<std::string>& reasons) {
  constexpr std::size_t kShown = 3;
  if (reasons.empty()) return "; 'lloyd backends' lists those that were found";
  std::string text;
  for (std::size_t i = 0; i < std::min(reasons.size(), kShown); ++i) text += "; " + reasons[i];
  if (reasons.size() > kShown) {
    text += fmt::format("; 'lloyd backends' shows {} more", reasons.size() - kShown);
  }
  return text;
}

}  // namespace

bool add_plugin_folder(const fs::path& folder) {
  AddedFolders& added = added_folders();
  const std::scoped_lock lock(added.mutex);
  if (std::find(added.folders.begin(), added.folders.end(), folder) == added.folders.end()) {
    added.folders.push_back(folder);
  }
  return true;
}

std::vector<std::string> Registry::ignored_entries() {
  std::vector<std::string> entries = search_path();
  std::erase_if(entries, [](const std::string& entry) { return is_full_path(entry); });
  return entries;
}

std::vector<fs::path> Registry::default_folders(const std::vector<fs::path>& explicit_folders) {
  std::vector<fs::path> folders = explicit_folders;
  for (const std::string& entry : search_path()) {
    if (is_full_path(entry)) folders.emplace_back(entry);
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(program.parent_path());
    folders.push_back(program.parent_path().parent_path() / "lib" / "lloyd");
  }
  AddedFolders& added = added_folders();
  const std::scoped_lock lock(added.mutex);
  folders.insert(folders.end(), added.folders.begin(), added.folders.end());
  return folders;
}

Registry::Registry(const std::vector<fs::path>& folders, PluginLoader loader)
    : folders_(folders), loader_(std::move(loader)) {
  std::set<fs::path> seen;
  std::set<std::string> refused_names;
  for (const fs::path& folder : folders) {
    std::map<std::string, std::vector<fs::path>> found_here;
    std::error_code unreadable;
    const std::vector<fs::path> files = plugin_files(folder, unreadable);
    if (unreadable && unreadable != std::errc::no_such_file_or_directory) {
      refused_.push_back({folder, fmt::format("{}: the folder cannot be read: {}", folder.string(),
                                              unreadable.message())});
    }
    for (const fs::path& file : files) {
      std::error_code error;
      const fs::path real = fs::canonical(file, error);
      if (!seen.insert(error ? file : real).second) continue;
      try {
        const PluginHeader header = read_plugin_header(file);
        // A refused file must not be replaced silently by another file from a later folder.
        if (refused_names.contains(header.name)) continue;
        const auto earlier = found_.find(header.name);
        if (earlier == found_.end()) {
          found_here[header.name].push_back(file);
        } else {
          refused_.push_back(
              {file, fmt::format("{}: not used: {}, in a folder that is searched first, is also a "
                                 "plugin named '{}'",
                                 file.string(), earlier->second.front().string(), header.name)});
        }
      } catch (const InputError& refusal) {
        refused_.push_back({file, refusal.what()});
        const std::string name = named_backend(file);
        if (!found_.contains(name) && !found_here.contains(name)) refused_names.insert(name);
      }
    }
    found_.merge(found_here);
  }
  for (const auto& [name, files] : found_) {
    if (files.size() < 2) continue;
    for (const fs::path& file : files) {
      refused_.push_back(
          {file, fmt::format("{}: two plugins are named '{}': {} and {}", file.string(), name,
                             files[0].string(), files[1].string())});
    }
  }
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> result;
  for (const auto& [name, files] : found_) {
    if (files.size() == 1) result.push_back(name);
  }
  return result;
}

bool Registry::contains(std::string_view name) const {
  const auto found = found_.find(name);
  return found != found_.end() && found->second.size() == 1;
}

std::shared_ptr<const LoadedBackend> Registry::load(std::string_view name) {
  const auto loaded = loaded_.find(name);
  if (loaded != loaded_.end()) return loaded->second;
  const auto found = found_.find(name);
  if (found == found_.end()) {
    for (const RefusedPlugin& refused : refused_) {
      if (refused.path.filename() == fmt::format("lloyd_{}.so", name)) {
        throw InputError(refused.reason);
      }
    }
    std::string unread;
    for (const RefusedPlugin& refused : refused_) {
      if (!is_plugin_file(refused.path)) unread += "; " + refused.reason;
    }
    const std::vector<std::string> known = names();
    if (known.empty()) {
      throw InputError(fmt::format("unknown backend '{}': no plugin was found {}{}; {}", name,
                                   places(folders_), unread, loader_.advice));
    }
    throw InputError(fmt::format("unknown backend '{}'{}{}; {}", name, suggestion(name, known),
                                 unread, loader_.advice));
  }
  const std::vector<fs::path>& files = found->second;
  if (files.size() > 1) {
    throw InputError(fmt::format("two plugins are named '{}': {} and {}", name, files[0].string(),
                                 files[1].string()));
  }
  std::shared_ptr<const LoadedBackend> backend = loader_.load(files.front());
  loaded_.emplace(name, backend);
  return backend;
}

std::vector<std::shared_ptr<const LoadedBackend>> Registry::load_all() {
  if (loader_.prepare) {
    std::vector<fs::path> files;
    for (const std::string& name : names()) {
      if (!loaded_.contains(name)) files.push_back(found_[name].front());
    }
    loader_.prepare(files);
  }
  std::vector<std::shared_ptr<const LoadedBackend>> result;
  for (const std::string& name : names()) {
    try {
      result.push_back(load(name));
    } catch (const InputError& refusal) {
      refused_.push_back({found_[name].front(), refusal.what()});
      found_.erase(name);
    }
  }
  return result;
}

std::shared_ptr<const LoadedBackend> Registry::preferred(std::uint64_t capabilities) {
  std::shared_ptr<const LoadedBackend> best;
  bool is_any_available = false;
  std::vector<std::string> reasons;
  for (const auto& backend : load_all()) {
    const bool is_capable = (capabilities & ~backend->info().capabilities) == 0;
    if (is_capable && !backend->available()) {
      reasons.push_back(
          fmt::format("{} is not available: {}", backend->name(), backend->unavailable()));
    }
    if (!backend->available()) continue;
    is_any_available = true;
    if (!is_capable) continue;
    if (best == nullptr || backend->info().preference > best->info().preference) best = backend;
  }
  if (best == nullptr && found_.empty() && refused_.empty()) {
    throw InputError(fmt::format("no backend is available: no plugin was found {}; {}",
                                 places(folders_), loader_.advice));
  }
  if (best != nullptr) return best;
  for (const RefusedPlugin& plugin : refused_) reasons.push_back(plugin.reason);
  const char* subject = "no backend is available";
  if (is_any_available) {
    subject = (capabilities & kCapabilityDeviceMemory) != 0
                  ? "no available backend reads samples in device memory"
                  : "no available backend has the capabilities that the data needs";
  }
  throw InputError(subject + first_reasons(reasons));
}

}  // namespace lloyd
