// Selects one run from a file of records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/record/record_reader.hpp"

namespace lloyd::experiment {

/// A selected run; `Run` is RecordedRun or DigestedRun.
template <class Run>
struct Chosen {
  std::filesystem::path file;
  Run run;
  std::int64_t runs = 0;           ///< number of runs in the file
  std::vector<std::string> notes;  ///< messages for the user: other runs, missing records
  std::string unfinished;          ///< why the run lacks trials; empty if it is complete
};

using ChosenRun = Chosen<RecordedRun>;
using ChosenDigest = Chosen<DigestedRun>;

/// Returns the file of records: `records` itself, or the file in it if it is a folder.
std::filesystem::path records_file(const std::filesystem::path& records);

/// Reads one run from `records`, a file written by `lloyd run` or its folder. `id` is a
/// Record::run, the beginning of one that no other run of the file has, or "last"; if empty, the
/// last run is read, and a note says so if there are others. Throws InputError for a file without
/// records, for an unknown run and for a beginning that several runs have.
ChosenRun read_run(const std::filesystem::path& records, const std::string& id);
/// The same with digests; keeps no records.
ChosenDigest digest_run(const std::filesystem::path& records, const std::string& id,
                        const ReadProgress& progress = {});

}  // namespace lloyd::experiment
