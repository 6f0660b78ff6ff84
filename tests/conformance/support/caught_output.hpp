// CaughtOutput: captures standard output for its lifetime.
#pragma once

#include <string>

namespace lloyd::conformance {

/// Captures up to the capacity of a pipe between two calls of take() and drops the rest.
class CaughtOutput {
 public:
  CaughtOutput();
  ~CaughtOutput();
  CaughtOutput(const CaughtOutput&) = delete;
  CaughtOutput& operator=(const CaughtOutput&) = delete;

  /// False if no pipe could be created, so nothing is captured.
  bool works() const { return saved_ >= 0; }
  /// Returns the bytes captured since the last call.
  std::string take();
  /// Restores the original standard output. Returns what take() would.
  std::string end();

 private:
  int saved_ = -1;   // the original standard output
  int source_ = -1;  // the pipe's end for reading
};

/// Start of a printed text, for a message.
inline std::string beginning(const std::string& text) {
  return text.substr(0, 60);
}

}  // namespace lloyd::conformance
