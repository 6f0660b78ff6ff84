// Access to the HDF5 library: one thread at a time, without error output, with handles that close
// themselves.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "data/hdf5/hdf5_module.hpp"

namespace lloyd {

/// Gives this thread exclusive use of the library, most builds of which are not thread-safe, and
/// silences its error output. Loads the library, see hdf5().
class Hdf5Lock {
 public:
  Hdf5Lock();
  ~Hdf5Lock();
  Hdf5Lock(const Hdf5Lock&) = delete;
  Hdf5Lock& operator=(const Hdf5Lock&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// The innermost cause of the library's last error, for messages.
std::string hdf5_reason();
/// True if the library's last error is that a file could not be locked.
bool hdf5_lock_failed();

/// Owns an identifier of the library. Destroy it while a Hdf5Lock is held.
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Hdf5Handle() { release(); }
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  bool valid() const { return id_ >= 0; }
  hid_t id() const { return id_; }
  /// Closes the identifier; false if the library reports that this failed.
  bool release() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

}  // namespace lloyd
