// What every use of the HDF5 library needs: one thread at a time, silence, handles that are closed.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace lloyd {

/// While it lives, this thread has the library, which most builds of it do not share among threads,
/// and the library prints no errors of its own.
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

/// The innermost reason of the library's last error, for messages.
std::string hdf5_reason();
/// Whether the library's last error is that a file could not be locked.
bool hdf5_lock_failed();

/// An identifier of the library, closed under a Hdf5Lock.
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
  /// Closes it now; false where the library says that this failed.
  bool release() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

}  // namespace lloyd
