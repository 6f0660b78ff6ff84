// One run out of a file of records.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/record_reader.hpp"

namespace lloyd::experiment {

struct ChosenRun {
  std::filesystem::path file;
  RecordedRun run;
  std::vector<std::string> notes;  ///< what the user should know: other runs, missing records
};

/// The file of records that a path names: itself, or the one in the folder that it is.
std::filesystem::path records_file(const std::filesystem::path& records);

/// `records`: a file that `lloyd run` wrote, or the folder that it is in. `id`: a Record::run;
/// empty for the last one. Throws InputError for a file without records and for an unknown run.
ChosenRun read_run(const std::filesystem::path& records, const std::string& id);

}  // namespace lloyd::experiment
