// One run out of a file of records.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/record/record_reader.hpp"

namespace lloyd::experiment {

/// `Run`: a RecordedRun or a DigestedRun.
template <class Run>
struct Chosen {
  std::filesystem::path file;
  Run run;
  std::vector<std::string> notes;  ///< what the user should know: other runs, missing records
  std::string unfinished;          ///< why trials of the run are missing; empty where none is
};

using ChosenRun = Chosen<RecordedRun>;
using ChosenDigest = Chosen<DigestedRun>;

/// The file of records that a path names: itself, or the one in the folder that it is.
std::filesystem::path records_file(const std::filesystem::path& records);

/// `records`: a file that `lloyd run` wrote, or the folder that it is in. `id`: a Record::run;
/// empty for the last one. Throws InputError for a file without records and for an unknown run.
ChosenRun read_run(const std::filesystem::path& records, const std::string& id);
/// The same, of which no record is kept.
ChosenDigest digest_run(const std::filesystem::path& records, const std::string& id,
                        const ReadProgress& progress = {});

}  // namespace lloyd::experiment
