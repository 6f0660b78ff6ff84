// Error: how the core reports what it cannot do.
#pragma once

#include <stdexcept>
#include <string>

#include <lloyd/plugin/status.hpp>

namespace lloyd {

/// One clear sentence: what, where, which value, what would be right.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's data, file, option or configuration is wrong.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A backend did not do what it was asked.
class BackendError : public Error {
 public:
  BackendError(StatusCode code, const std::string& message) : Error(message), code_(code) {}
  StatusCode code() const { return code_; }

 private:
  StatusCode code_;
};

/// The caller's stop function ended the work.
class Cancelled : public Error {
 public:
  Cancelled() : Error("interrupted") {}
};

}  // namespace lloyd
