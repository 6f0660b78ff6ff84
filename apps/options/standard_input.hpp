// Data from standard input.
#pragma once

#include <filesystem>

#include "process/scratch_folder.hpp"

namespace lloyd::apps {

/// A copy of standard input in a temporary file, which has the lifetime of the object: readers need
/// a file that they can read more than once. The first bytes give its format: .npy, .npz, HDF5,
/// gzip of text, or text.
class StandardInput {
 public:
  /// Reads standard input to its end. Throws InputError if it is a terminal or cannot be read, and
  /// Error if the copy cannot be written.
  StandardInput();

  /// The copy, with the extension of its format and a name that no other file has. Messages call
  /// it "standard input", as do results: see data_name().
  const std::filesystem::path& file() const { return file_; }

 private:
  ScratchFolder folder_;
  std::filesystem::path file_;
};

}  // namespace lloyd::apps
