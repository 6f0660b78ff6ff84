// Error: the exceptions of the core.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <lloyd/plugin/abi/status.hpp>

namespace lloyd {

/// Base of all exceptions of the core. The message is one sentence: what, where, which value, what
/// would be right.
///
/// The functions of the library throw Error, pass on what a function of the caller throws, such as
/// one for progress, and throw std::bad_alloc, which is not an Error, if host memory is exhausted.
/// There are two exceptions for exhausted memory. If it ends the work of a backend, a pass over
/// data that is read in blocks, or a collective call of several ranks, they throw BackendError with
/// StatusCode::out_of_memory; if RowSource::read() throws std::bad_alloc, they throw InputError. A
/// thread that cannot be started is not an error: the existing ones do the work.
class Error : public std::runtime_error {
 public:
  /// Control characters, which a message may quote from a file or an option, are replaced by '?'.
  explicit Error(std::string_view message);
};

/// Invalid data, file, option or configuration.
class InputError : public Error {
 public:
  using Error::Error;
};

/// An InputError whose message recommends an option of CsvOptions or FileOptions. Callers without
/// such an option replace the advice.
class InputOptionError : public InputError {
 public:
  using InputError::InputError;
};

/// A data set contains NaN, which stands for a missing value.
class MissingValueError : public InputError {
 public:
  using InputError::InputError;
};

/// A backend returned an error or an invalid result.
class BackendError : public Error {
 public:
  /// `code` is that of a status other than ok.
  BackendError(StatusCode code, const std::string& message) : Error(message), code_(code) {}
  /// The status code of the backend.
  StatusCode code() const { return code_; }

 private:
  StatusCode code_;
};

/// The caller's stop function cancelled the work.
class Cancelled : public Error {
 public:
  /// The message is "interrupted".
  Cancelled() : Error("interrupted") {}
};

}  // namespace lloyd
