// page_data: the data of a report's page, as JSON.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "experiment/record/record_reader.hpp"

namespace lloyd::report {

/// The summary of one run with all timings, traces, published numbers and machines. `source`: the
/// records' file, for the page's title; `unfinished`: ChosenRun::unfinished; `ceilings`: from
/// read_ceilings(), or null. Traces are thinned out, and replays beyond a total of one megabyte are
/// omitted and counted, so that a page with hundreds of trials takes at most 3 MB.
nlohmann::ordered_json page_data(const experiment::RecordedRun& run,
                                 const std::filesystem::path& source, const std::string& unfinished,
                                 const nlohmann::ordered_json& ceilings);

}  // namespace lloyd::report
