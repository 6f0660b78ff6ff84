// RecordWriter: appends records to a file durably; a failed append leaves no partial record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "experiment/record/record.hpp"

namespace lloyd::experiment {

/// Returns the record as one line of a file of records, with its line feed.
std::string record_line(const Record& record);

class RecordWriter {
 public:
  /// Opens or creates the file and locks it against other writers for the lifetime of this object.
  /// Truncates an incomplete last line left by a killed run; note() reports it. Syncs the folder of
  /// a new file. Throws InputError if the file cannot be opened or is no regular file, another
  /// program is appending to it, or its last line is incomplete and not from a killed run; that
  /// line is kept.
  explicit RecordWriter(const std::filesystem::path& file);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Writes one line and waits until it is on disk. Throws Error if that fails; the file is then
  /// unchanged. If another program has left an incomplete line, that line is ended first.
  void append(const Record& record);

  /// Describes changes that other programs made to the file since it was opened, which may have
  /// removed or added records, as a sentence without its final period; empty if there were none.
  const std::string& interference();

  /// The repair made on opening; empty if there was none.
  const std::string& note() const { return note_; }

 private:
  void repair();
  void look_for_interference();

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::string note_;
  std::int64_t end_ = 0;  // offset of the end of the last write
  std::string interference_;
};

/// True if a RecordWriter of any process, in any container, has the file open. The kernel releases
/// the lock however the process ends. False if this cannot be determined.
bool is_being_written(const std::filesystem::path& file);

}  // namespace lloyd::experiment
