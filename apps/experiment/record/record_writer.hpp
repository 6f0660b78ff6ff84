// RecordWriter: appends records to a file so that none is lost and none is left half written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "experiment/record/record.hpp"

namespace lloyd::experiment {

/// The record as it stands in a file of records, with its line feed.
std::string record_line(const Record& record);

class RecordWriter {
 public:
  /// Opens or makes the file and locks it against other writers until this object ends. A last line
  /// that a killed run left incomplete is cut off; note() then says so. A new file's folder is on
  /// the disk, too. Throws InputError when the file cannot be opened or is no regular file, another
  /// program is appending to it, or its last line is an incomplete one of others, which stays.
  explicit RecordWriter(const std::filesystem::path& file);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Writes one line and waits until it is on the disk. Throws Error when it cannot be; the file is
  /// then as it was before. Where another program has left an incomplete line, that line is ended.
  void append(const Record& record);

  /// What other programs have done to the file since it was opened, as a sentence without its end,
  /// so that records may be missing or others among them; empty when they did nothing.
  const std::string& interference();

  /// What was repaired on opening; empty when nothing was.
  const std::string& note() const { return note_; }

 private:
  void repair();
  void look_for_interference();

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::string note_;
  std::int64_t end_ = 0;  // of what was written, as an offset
  std::string interference_;
};

/// Whether a RecordWriter, of whatever process and in whatever container, has the file open now.
/// The kernel gives its lock back however the process ends. False where that cannot be told.
bool is_being_written(const std::filesystem::path& file);

}  // namespace lloyd::experiment
