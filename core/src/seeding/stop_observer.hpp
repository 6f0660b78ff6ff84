// StopObserver: passes the caller's stop function on to a backend that seeds.
#pragma once

#include <atomic>
#include <string>

#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/abi/backend.hpp>

#include "session/kept_exception.hpp"

namespace lloyd {

class StopObserver final : public Observer {
 public:
  /// `stop` must outlive this object.
  explicit StopObserver(const StopFunction& stop) : stop_(stop) {}

  bool on_iteration(const IterationRecord&) noexcept override { return true; }
  bool stop_requested() const noexcept override {
    if (kept_.call(true, [this] { return stop_ && stop_(); })) requested_ = true;
    return requested_;
  }

  /// Throws what the stop function threw, Cancelled if the backend was cancelled by request, and
  /// BackendError for another error.
  void check(const std::string& backend, const Status& status) const {
    kept_.rethrow();
    if (status.code == StatusCode::cancelled && requested_) throw Cancelled();
    throw_unless_ok(backend, status);
  }

 private:
  const StopFunction& stop_;
  mutable std::atomic<bool> requested_{false};
  mutable KeptException kept_;
};

}  // namespace lloyd
