// CaughtOutput: what is printed to standard output meanwhile.
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

  /// False where there can be no temporary file: nothing is caught then.
  bool works() const { return file_ != nullptr; }
  /// Prints to the former standard output again. Returns the first 60 bytes that were printed.
  std::string end();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::unique_ptr<std::FILE, CloseFile> file_;
  int saved_ = -1;
};

}  // namespace lloyd::conformance
