#include "data/hdf5/hdf5_library.hpp"

#include <algorithm>
#include <string_view>

#include <lloyd/internal/shown.hpp>

namespace lloyd {
namespace {

std::mutex& library_mutex() {
  static std::mutex mutex;
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
  hdf5().H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  hdf5().H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Lock::~Hdf5Lock() {
  hdf5().H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

bool hdf5_lock_failed() {
  bool found = false;
  hdf5().H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_lock, &found);
  return found;
}

std::string hdf5_reason() {
  std::string reason;
  hdf5().H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
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
