// CaughtOutput: captures standard output for its lifetime.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace lloyd::conformance {

class CaughtOutput {
 public:
  CaughtOutput();
  ~CaughtOutput();
  CaughtOutput(const CaughtOutput&) = delete;
  CaughtOutput& operator=(const CaughtOutput&) = delete;

  /// False if no temporary file could be created, so nothing is captured.
  bool works() const { return file_ != nullptr; }
  /// Restores the original standard output. Returns the first 60 captured bytes.
  std::string end();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::unique_ptr<std::FILE, CloseFile> file_;
  int saved_ = -1;
};

}  // namespace lloyd::conformance
