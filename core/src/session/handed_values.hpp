// HandedValues: protects values from being changed by a plugin that may only read them.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

/// The message about a changed input, for example "the plugin changed the samples, which it may
/// only read".
inline std::string changed_input_text(const char* what) {
  return fmt::format("the plugin changed the {}, which it may only read", what);
}

/// Throws the BackendError about a changed input.
[[noreturn]] inline void throw_changed_input(const std::string& backend, const char* what) {
  throw BackendError(StatusCode::internal,
                     fmt::format("{}: {}", backend, changed_input_text(what)));
}

/// A plugin shares the core's memory, so it can write to values that it receives as const. It is
/// given a copy instead: the core keeps the original and detects changes of the copy.
class HandedValues {
 public:
  /// `values` must outlive it.
  explicit HandedValues(std::span<const double> values)
      : values_(values), copy_(values.begin(), values.end()) {}
  /// The copy for the plugin.
  const double* data() const { return copy_.data(); }
  /// Compares bits, so that a NaN is equal to itself.
  bool changed() const {
    return std::memcmp(copy_.data(), values_.data(), copy_.size() * sizeof(double)) != 0;
  }
  /// Throws BackendError, with the backend's name in front, if the copy of `what` was changed.
  void check(const std::string& backend, const char* what) const {
    if (changed()) throw_changed_input(backend, what);
  }

 private:
  std::span<const double> values_;
  std::vector<double> copy_;
};

}  // namespace lloyd
