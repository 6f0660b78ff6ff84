// KeptException: carries an exception of a caller's function past code that it must not unwind.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace lloyd {

/// Keeps the first exception of functions that are called back from a plugin, or while other ranks
/// wait for this one, until it can be thrown to the caller. Thread-safe.
class KeptException {
 public:
  /// Returns body(). If it throws, or if an exception is kept already, returns `otherwise`.
  template <class Body>
  bool call(bool otherwise, const Body& body) noexcept {
    if (kept()) return otherwise;
    try {
      return body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (exception_ == nullptr) exception_ = std::current_exception();
      kept_ = true;
    }
    return otherwise;
  }

  bool kept() const noexcept { return kept_; }
  /// Throws the exception, if one is kept. Must not run concurrently with
  /// call().
  void rethrow() const {
    if (kept()) std::rethrow_exception(exception_);
  }
  /// Runs `body`. A kept exception is thrown in place of its result or its own exception.
  template <class Body>
  auto rethrow_after(const Body& body) const {
    try {
      auto result = body();
      rethrow();
      return result;
    } catch (...) {
      rethrow();
      throw;
    }
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
  std::atomic<bool> kept_{false};
};

}  // namespace lloyd
