// page_data: what the page of a report draws, as JSON.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "experiment/record/record_reader.hpp"

namespace lloyd::report {

/// The summary of one run with every sample, its traces, published numbers and machines. `source`
/// is the file of the records, for the page's title; `unfinished` is that of the ChosenRun;
/// `ceilings` is what read_ceilings() gives, or null. Traces are thinned out, and replays beyond a
/// megabyte left out and counted, so that hundreds of trials still make a page of at most 3 MB.
nlohmann::ordered_json page_data(const experiment::RecordedRun& run,
                                 const std::filesystem::path& source, const std::string& unfinished,
                                 const nlohmann::ordered_json& ceilings);

}  // namespace lloyd::report
