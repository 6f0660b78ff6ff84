// read_records: reads a file of records and groups them by run.
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

/// Applies to JSON the changes that a record undergoes when it is written and read: bytes that are
/// not UTF-8 are replaced on writing, and keys and texts are made printable on reading, since they
/// go to terminals and tables. Apply it before comparing other JSON with records.
nlohmann::ordered_json as_read(const nlohmann::ordered_json& json);

/// The records of one run of `lloyd run`.
struct RecordedRun {
  std::string id;  ///< Record::run
  /// Records by planned fit, in plan order, without fits that left none; within a fit in file
  /// order.
  std::vector<std::vector<Record>> fits;
  /// Number of planned fits; larger than fits.size() if the run was killed.
  std::int64_t planned = 0;
  std::int64_t repeats = 1;  ///< planned trials of each fit; a minimum with `until`
};

/// RecordedRun with digests instead of records, for runs of a million trials.
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

/// Reads all records of a file written by RecordWriter, or of several such files concatenated. A
/// resumed run has each trial once: the last record replaces earlier cancelled or failed ones, and
/// cancelled records of a planned fit are dropped once that fit is resumed. An incomplete last line
/// left by a killed run is skipped with a note, see is_torn_record(). Throws InputError, with the
/// file and the line if there is one, for a file that cannot be read or has no records, a line that
/// is no record of this schema, and contradictory records of one run.
RecordFile read_records(const std::filesystem::path& file);

/// Called with the number of bytes read so far, and their total.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;
/// The same, with the same checks; keeps no records.
DigestFile digest_records(const std::filesystem::path& file, const ReadProgress& progress = {});

}  // namespace lloyd::experiment
