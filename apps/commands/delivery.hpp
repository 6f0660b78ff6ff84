// Delivery: hands over what a command has computed, so that no failure costs another result.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lloyd::apps {

/// Used once, when the work is done: print, then write each file, then finish.
class Delivery {
 public:
  /// Prints with `body` and flushes standard output. A reader that has gone ends the process in
  /// finish() only.
  void print(const std::function<void()>& body);

  /// Writes a file with `body`, which is given the path to write to. Where that fails, the file is
  /// kept in a new folder in the working directory or, failing that, in the folder for temporary
  /// files. Returns whether it is where it belongs.
  bool write(const std::filesystem::path& file,
             const std::function<void(const std::filesystem::path&)>& body);

  /// Throws Error with all that failed and where the files were kept; returns if nothing did. Where
  /// the reader of standard output has gone and nothing else failed, ends with SIGPIPE, as programs
  /// do that print.
  void finish() const;

 private:
  std::vector<std::string> failures_;
  bool reader_gone_ = false;
};

}  // namespace lloyd::apps
