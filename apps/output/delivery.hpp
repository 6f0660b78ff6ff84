// Delivery: outputs the results of a command; a failure to write one result does not lose another.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lloyd::apps {

/// One-shot: print(), then write() each file, then finish().
class Delivery {
 public:
  /// Calls `body`, which prints, and flushes standard output. If the reader is gone, the process
  /// ends in finish(), not here.
  void print(const std::function<void()>& body);

  /// Calls `body` with the path to write to. If that fails, writes the file to a new folder in the
  /// working directory or, failing that, in the folder for temporary files. Returns true if the
  /// file was written to `file`.
  bool write(const std::filesystem::path& file,
             const std::function<void(const std::filesystem::path&)>& body);

  /// Records a failure of an output of which there is nothing to keep.
  void add_failure(const std::string& failure) { failures_.push_back(failure); }

  /// True if nothing has failed so far.
  bool complete() const { return failures_.empty(); }

  /// Throws Error with all failures and the places of the kept files; returns if there were none.
  /// If the only failure is that the reader of standard output is gone, raises SIGPIPE.
  void finish() const;

 private:
  std::vector<std::string> failures_;
  bool reader_gone_ = false;
};

}  // namespace lloyd::apps
