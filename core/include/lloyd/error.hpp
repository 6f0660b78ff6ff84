// Error: how the core reports what it cannot do.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <lloyd/plugin/status.hpp>

namespace lloyd {

/// One clear sentence: what, where, which value, what would be right.
class Error : public std::runtime_error {
 public:
  /// Control characters, which a message may quote from a file or an option, become '?'.
  explicit Error(std::string_view message);
};

/// The caller's data, file, option or configuration is wrong.
class InputError : public Error {
 public:
  using Error::Error;
};

/// The same, where the message names an option of reading a file, CsvOptions or FileOptions, as
/// what may be right. Who reads without such options has other advice to give.
class InputOptionError : public InputError {
 public:
  using InputError::InputError;
};

/// A backend did not do what it was asked.
class BackendError : public Error {
 public:
  /// A status that is not ok, and what to say of it.
  BackendError(StatusCode code, const std::string& message) : Error(message), code_(code) {}
  /// The backend's status.
  StatusCode code() const { return code_; }

 private:
  StatusCode code_;
};

/// The caller's stop function ended the work.
class Cancelled : public Error {
 public:
  /// "interrupted".
  Cancelled() : Error("interrupted") {}
};

}  // namespace lloyd
