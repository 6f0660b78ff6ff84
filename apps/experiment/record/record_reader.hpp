// read_records: the records of a file, run by run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/record/fit_digest.hpp"
#include "experiment/record/record.hpp"

namespace lloyd::experiment {

/// What becomes of JSON in a file of records: bytes that are no UTF-8 are replaced when it is
/// written, and every key and text is made printable when it is read, since both go to terminals
/// and tables. What comes from elsewhere is compared with records by this.
nlohmann::ordered_json as_read(const nlohmann::ordered_json& json);

/// What one run of `lloyd run` left in a file.
struct RecordedRun {
  std::string id;  ///< Record::run
  /// By planned fit, in the order of the plan; of each that left a record, its records in the order
  /// of the file.
  std::vector<std::vector<Record>> fits;
  std::int64_t planned = 0;  ///< fits; more than left a record where the run was killed
  std::int64_t repeats = 1;  ///< planned trials of each fit, at least
};

/// As RecordedRun, with digests instead of records: for runs of a million trials.
struct DigestedRun {
  std::string id;
  std::vector<FitDigest> fits;
  std::int64_t planned = 0;
  std::int64_t repeats = 1;
  bool fixed_iterations = true;  ///< see has_fixed_iterations()
};

struct DigestFile {
  std::vector<DigestedRun> runs;  ///< as RecordFile::runs
  std::string note;
};

struct RecordFile {
  std::vector<RecordedRun> runs;  ///< at least one, in the order of their last records
  std::string note;               ///< about an incomplete last line; empty when there is none
};

/// Reads all records of a file that RecordWriter wrote, or several of them one after another. Of a
/// run that was resumed each trial is there once: the last record of a trial that was cancelled or
/// failed before counts, and what was cancelled goes as soon as its planned fit was resumed. A
/// last line that a killed run left incomplete is passed over with a note, see is_torn_record().
/// Throws InputError with the file, and the line where there is one, for a file that cannot be read
/// or holds no records, a line that is no record of this schema, and records of one run that
/// contradict each other.
RecordFile read_records(const std::filesystem::path& file);

/// Told how many bytes of how many have been read.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;
/// The same, and as strict; no record is kept.
DigestFile digest_records(const std::filesystem::path& file, const ReadProgress& progress = {});

}  // namespace lloyd::experiment
