// HandedValues: values that a plugin may read and must not change.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

/// "the plugin changed the samples, which it may only read"
inline std::string changed_input_text(const char* what) {
  return fmt::format("the plugin changed the {}, which it may only read", what);
}

/// A plugin shares the core's memory: what it is handed as const it can still write to. So it is
/// handed a copy, by which the core finds out and keeps its own values.
class HandedValues {
 public:
  /// `values` must outlive it.
  explicit HandedValues(std::span<const double> values)
      : values_(values), copy_(values.begin(), values.end()) {}
  /// For the plugin.
  const double* data() const { return copy_.data(); }
  bool changed() const { return !std::equal(copy_.begin(), copy_.end(), values_.begin()); }
  /// Throws BackendError, led by the backend's name, where the copy of `what` was changed.
  void check(const std::string& backend, const char* what) const {
    if (!changed()) return;
    throw BackendError(StatusCode::internal,
                       fmt::format("{}: {}", backend, changed_input_text(what)));
  }

 private:
  std::span<const double> values_;
  std::vector<double> copy_;
};

}  // namespace lloyd
