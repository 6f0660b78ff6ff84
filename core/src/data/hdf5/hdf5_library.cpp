#include "data/hdf5/hdf5_library.hpp"

#include <algorithm>
#include <string_view>

#include <lloyd/internal/shown.hpp>

namespace lloyd {
namespace {

// A data file names the filters that it needs, and the library loads missing ones from the folders
// of HDF5_PLUGIN_PATH. Relative folders are removed, because they would be resolved in the working
// directory.
void remove_relative_plugin_folders() {
#if H5_VERSION_GE(1, 10, 1)
  unsigned count = 0;
  if (H5PLsize(&count) < 0) return;
  while (count > 0) {
    char start[2] = {};
    --count;
    if (H5PLget(count, start, sizeof(start)) < 0 || start[0] != '/') H5PLremove(count);
  }
#endif
}

// If a file could not be written in full, the library tries again in its exit handler, and crashes.
// Everything that is opened here is closed here, so the handler is disabled. That has no effect if
// the process used the library before.
std::mutex& library_mutex() {
  static std::mutex mutex;
  static const bool prepared = [] {
    H5dont_atexit();
    remove_relative_plugin_folders();
    return true;
  }();
  static_cast<void>(prepared);
  return mutex;
}

// Walking upward, the innermost error comes first; a positive value ends the walk.
herr_t take_first(unsigned, const H5E_error2_t* error, void* text) {
  if (error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 1;
}

herr_t find_lock(unsigned, const H5E_error2_t* error, void* found) {
  const std::string_view description = error->desc != nullptr ? error->desc : "";
  if (!description.starts_with("unable to lock file")) return 0;
  *static_cast<bool*>(found) = true;
  return 1;
}

}  // namespace

Hdf5Lock::Hdf5Lock() : lock_(library_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Lock::~Hdf5Lock() {
  H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

bool hdf5_lock_failed() {
  bool found = false;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_lock, &found);
  return found;
}

std::string hdf5_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  // For a failed system call, the library also gives addresses and times: only the error message is
  // kept.
  constexpr std::string_view kSystem = "error message = '";
  if (const auto begin = reason.find(kSystem); begin != std::string::npos) {
    reason.erase(0, begin + kSystem.size());
    reason.erase(std::min(reason.find('\''), reason.size()));
  }
  return reason.empty() ? "unknown reason" : shown(reason, 200);
}

}  // namespace lloyd
