#include "experiment/record_reader.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/status_text.hpp>

#include "json_text.hpp"

namespace lloyd::experiment {
namespace {

using Place = std::pair<std::int64_t, std::int64_t>;  // setting, variant

// The records of one run while they are read.
struct OpenRun {
  std::size_t first_line = 0;
  std::size_t last_line = 0;
  std::map<Place, std::vector<Record>> fits;
  std::set<std::pair<Place, std::int64_t>> repeats;
};

// The same with every key and text printable: they go to terminals and tables, and whoever wrote
// the file may have left control characters in them.
nlohmann::ordered_json printable_texts(const nlohmann::ordered_json& json) {
  if (json.is_string()) return printable(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  nlohmann::ordered_json result = json.type();
  for (const auto& [key, value] : json.items()) {
    if (json.is_array()) {
      result.push_back(printable_texts(value));
    } else {
      result[printable(key)] = printable_texts(value);
    }
  }
  return result;
}

std::vector<std::string> paths_of(const Record& record) {
  std::vector<std::string> paths;
  for (const AxisValue& axis : record.axes) paths.push_back(axis.path);
  return paths;
}

// What all records of one run have in common.
auto run_facts(const Record& record) {
  return std::make_tuple(record.experiment, record.plan.settings, record.plan.variants,
                         record.plan.repeats, record.plan.until, record.plan.baseline,
                         paths_of(record));
}

// What all records of one planned fit have in common.
auto fit_facts(const Record& record) {
  std::vector<std::string> values;
  for (const AxisValue& axis : record.axes) values.push_back(axis.value);
  return std::make_tuple(record.setting, record.backend.label, record.backend.accuracy,
                         record.dataset.samples, record.stop.dump(), values, record.published);
}

void add(OpenRun& run, Record record, std::size_t line) {
  if (run.fits.empty()) run.first_line = line;
  run.last_line = line;
  if (!run.fits.empty() && run_facts(run.fits.begin()->second.front()) != run_facts(record)) {
    throw InputError(fmt::format(
        "the record is of the run '{}', as line {} is, but has another experiment, plan or axes",
        record.run, run.first_line));
  }
  const Place place(record.plan.setting, record.plan.variant);
  std::vector<Record>& fit = run.fits[place];
  if (!fit.empty() && fit.back().status == TrialStatus::cancelled) {
    run.repeats.erase({place, fit.back().repeat});
    drop_superseded(fit, record);
  }
  const bool again = !run.repeats.emplace(place, record.repeat).second;
  const std::size_t before = fit.size();
  if (again) drop_superseded(fit, record);
  if (again && fit.size() == before) {
    throw InputError(
        fmt::format("the run '{}' has a second record of setting {}, variant {}, "
                    "repeat {}",
                    record.run, record.plan.setting, record.plan.variant, record.repeat));
  }
  if (!fit.empty() && fit_facts(fit.front()) != fit_facts(record)) {
    throw InputError(fmt::format(
        "the run '{}' has setting {}, variant {} with another hash, label, accuracy, size, stop, "
        "axes or published values before",
        record.run, record.plan.setting, record.plan.variant));
  }
  fit.push_back(std::move(record));
}

RecordedRun close(const std::string& id, OpenRun run) {
  RecordedRun result;
  result.id = id;
  const auto& plan = run.fits.begin()->second.front().plan;
  result.planned = plan.settings * plan.variants;
  for (auto& [place, records] : run.fits) result.fits.push_back(std::move(records));
  return result;
}

}  // namespace

RecordFile read_records(const std::filesystem::path& file) {
  constexpr int kMostLevels = 16;
  const std::string text = apps::read_text_file(file);
  const std::string name = file.string();
  RecordFile result;
  std::map<std::string, OpenRun> open;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view piece = std::string_view(text).substr(begin, end - begin);
    ++line;
    begin = end + 1;
    if (end == text.size() && is_torn_record(piece) && !nlohmann::ordered_json::accept(piece)) {
      result.note = fmt::format(
          "{}:{}: passed over an incomplete last record of {} bytes, left by a run that was killed",
          name, line, piece.size());
      break;
    }
    try {
      Record record = record_from_json(printable_texts(apps::parse_json(piece, kMostLevels)));
      OpenRun& run = open[record.run];
      add(run, std::move(record), line);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}:{}: {}", name, line, error.what()));
    }
  }
  if (open.empty()) throw InputError(fmt::format("{}: holds no records", name));
  std::vector<std::pair<std::size_t, RecordedRun>> runs;
  for (auto& [id, run] : open) {
    const std::size_t last = run.last_line;
    runs.emplace_back(last, close(id, std::move(run)));
  }
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [last, run] : runs) result.runs.push_back(std::move(run));
  return result;
}

}  // namespace lloyd::experiment
