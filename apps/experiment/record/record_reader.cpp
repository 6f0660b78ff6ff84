#include "experiment/record/record_reader.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/shell_word.hpp>
#include <lloyd/internal/status_text.hpp>

#include "text/file_kind.hpp"

namespace lloyd::experiment {
namespace {

using FitPlace = std::pair<std::int64_t, std::int64_t>;  // setting, variant

// True for printable ASCII without escapes, which printable() would not change.
bool is_plain(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && c != '\\';
  });
}

std::vector<std::string> paths_of(const Record& record) {
  std::vector<std::string> paths;
  for (const AxisValue& axis : record.axes) paths.push_back(axis.path);
  return paths;
}

// The values that all records of one run share. Its repeats may grow when it is resumed.
auto run_facts(const Record& record) {
  return std::make_tuple(record.experiment, record.plan.settings, record.plan.variants,
                         record.plan.until, record.plan.baseline, paths_of(record));
}

// Collects the records of a planned fit unchanged.
struct WholeFit {
  using Result = std::vector<Record>;
  std::vector<Record> trials;

  static Record trial_of(const Record& record) { return record; }
  void begin(const Record&) {}
  void note(const Record&) {}
  Result finish() && { return std::move(trials); }
  // True if the record has the values that all records of a planned fit share.
  bool agrees_with(const Record& record) const {
    const Record& first = trials.front();
    return first.setting == record.setting && first.backend.label == record.backend.label &&
           first.backend.accuracy == record.backend.accuracy &&
           first.dataset.samples == record.dataset.samples && first.stop == record.stop &&
           first.axes == record.axes && first.published == record.published;
  }
};

// Collects the records of a planned fit as a digest.
struct DigestedFit : FitDigest {
  using Result = FitDigest;
  nlohmann::ordered_json stop;

  static TrialDigest trial_of(const Record& record) { return TrialDigest(record); }
  void begin(const Record& record) {
    FitDigest::operator=(FitDigest(record));
    stop = record.stop;
  }
  Result finish() && { return std::move(*this); }
  bool agrees_with(const Record& record) const {
    return setting == record.setting && backend == record.backend.label &&
           accuracy == record.backend.accuracy && samples == record.dataset.samples &&
           stop == record.stop && axes == record.axes && published == record.published;
  }
};

// The state of one run during reading; `FitType` is WholeFit or DigestedFit.
template <class FitType>
struct OpenRun {
  struct Fit : FitType {
    std::int64_t highest = -1;  // highest repeat so far
  };
  std::size_t first_line = 0;
  std::size_t last_line = 0;
  std::optional<decltype(run_facts(std::declval<Record>()))> facts;
  std::int64_t planned = 0;
  std::int64_t repeats = 1;
  bool fixed_iterations = true;
  std::map<FitPlace, Fit> fits;
};

template <class FitType>
void add(OpenRun<FitType>& run, const Record& record, std::size_t line) {
  if (!run.facts) {
    run.first_line = line;
    run.facts = run_facts(record);
    run.planned = record.plan.settings * record.plan.variants;
  }
  run.repeats = std::max(run.repeats, record.plan.repeats);
  run.last_line = line;
  if (*run.facts != run_facts(record)) {
    throw InputError(fmt::format(
        "the record is of the run '{}', as line {} is, but has another experiment, plan or axes",
        record.run, run.first_line));
  }
  auto& fit = run.fits[FitPlace(record.plan.setting, record.plan.variant)];
  auto trial = FitType::trial_of(record);
  if (!fit.trials.empty() && fit.trials.back().status == TrialStatus::cancelled) {
    drop_superseded(fit.trials, trial);
  }
  const auto is_same = [&](const auto& other) { return other.repeat == record.repeat; };
  // Repeats ascend, except those that a resumed run makes again.
  const bool again =
      record.repeat <= fit.highest && std::any_of(fit.trials.begin(), fit.trials.end(), is_same);
  const std::size_t before = fit.trials.size();
  if (again) drop_superseded(fit.trials, trial);
  if (again && fit.trials.size() == before) {
    throw InputError(
        fmt::format("the run '{}' has a second record of setting {}, variant {}, "
                    "repeat {}",
                    record.run, record.plan.setting, record.plan.variant, record.repeat));
  }
  if (fit.trials.empty()) fit.begin(record);
  if (!fit.trials.empty() && !fit.agrees_with(record)) {
    throw InputError(fmt::format(
        "the run '{}' has setting {}, variant {} with another hash, label, accuracy, size, stop, "
        "axes or published values before",
        record.run, record.plan.setting, record.plan.variant));
  }
  run.fixed_iterations = run.fixed_iterations && record.stop.contains("iterations");
  fit.highest = std::max(fit.highest, record.repeat);
  fit.note(record);
  fit.trials.push_back(std::move(trial));
}

Record read_record(std::string_view line) {
  constexpr int kMaxLevels = 16;
  const nlohmann::ordered_json json = parse_json(line, kMaxLevels);
  return record_from_json(is_plain(line) ? json : as_read(json));
}

// Reads the next line without its line feed; returns false at the end of the file. Throws
// InputError for a line longer than kMaxRecordBytes.
bool read_line(std::istream& stream, std::string& text) {
  text.clear();
  std::array<char, 1 << 16> piece;
  for (;;) {
    stream.getline(piece.data(), piece.size());
    const auto read = static_cast<std::size_t>(stream.gcount());
    const bool filled = stream.fail() && !stream.eof() && !stream.bad() && read > 0;
    // Ended at a line feed, which gcount() includes but `piece` does not hold.
    const bool ended = stream.good();
    text.append(piece.data(), ended ? read - 1 : read);
    if (std::ssize(text) > kMaxRecordBytes) {
      throw InputError(fmt::format("the line is longer than {} MiB, the maximum length of a record",
                                   kMaxRecordBytes >> 20));
    }
    if (!filled) return ended || !text.empty();
    stream.clear();
  }
}

// Refuses a file that has no record and, by its name, is of another kind.
void refuse_other_kind(const std::filesystem::path& file) {
  const std::string kind = apps::file_kind(file);
  if (kind.empty() || file.extension() == ".jsonl") return;
  throw InputError(
      fmt::format("{} is {}, not records; 'lloyd run' writes these into the file "
                  "records.jsonl of its output folder",
                  file.string(), kind));
}

// Reads all runs, in the order of their last records.
template <class FitType>
std::vector<std::pair<std::string, OpenRun<FitType>>> read_runs(const std::filesystem::path& file,
                                                                std::string& note,
                                                                const ReadProgress& progress) {
  std::ifstream stream = open_text_file(file);
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  const std::string name = file.string();
  std::map<std::string, OpenRun<FitType>> open;
  std::string text;
  std::uint64_t offset = 0;
  const auto next = [&](std::size_t line) {
    try {
      return read_line(stream, text);
    } catch (const InputError& failure) {
      if (line == 1) refuse_other_kind(file);
      throw InputError(fmt::format("{}:{}: {}", name, line, failure.what()));
    }
  };
  for (std::size_t line = 1; next(line); ++line) {
    if (stream.eof() && is_torn_record(text) && !nlohmann::ordered_json::accept(text)) {
      note = fmt::format("{}:{}: passed over an incomplete last record of {} bytes", name, line,
                         text.size());
      break;
    }
    try {
      const Record record = read_record(text);
      add(open[record.run], record, line);
    } catch (const InputError& failure) {
      if (line == 1) refuse_other_kind(file);
      const std::string advice =
          nlohmann::ordered_json::accept(text)
              ? ""
              : fmt::format("; sed -i {}d {} removes the line", line, shell_word(name));
      throw InputError(fmt::format("{}:{}: {}{}", name, line, failure.what(), advice));
    }
    offset += text.size() + 1;
    if (progress && !error) progress(offset, size);
  }
  if (stream.bad()) throw InputError(fmt::format("{}: cannot be read", name));
  if (open.empty()) {
    refuse_other_kind(file);
    throw InputError(fmt::format("{}: holds no records", name));
  }
  std::vector<std::pair<std::string, OpenRun<FitType>>> runs;
  for (auto& [id, run] : open) runs.emplace_back(id, std::move(run));
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.second.last_line < b.second.last_line; });
  return runs;
}

}  // namespace

nlohmann::ordered_json as_read(const nlohmann::ordered_json& json) {
  using Json = nlohmann::ordered_json;
  const auto text_as_read = [](const std::string& text) {
    if (is_plain(text)) return text;
    // Encoded as in record_line().
    const std::string written = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    return printable(Json::parse(written).get_ref<const std::string&>());
  };
  if (json.is_string()) return text_as_read(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  Json result = json.type();
  for (const auto& [key, value] : json.items()) {
    if (json.is_array()) {
      result.push_back(as_read(value));
    } else {
      result[text_as_read(key)] = as_read(value);
    }
  }
  return result;
}

RecordFile read_records(const std::filesystem::path& file) {
  RecordFile result;
  for (auto& [id, run] : read_runs<WholeFit>(file, result.note, {})) {
    RecordedRun& recorded = result.runs.emplace_back(RecordedRun{id, {}, run.planned, run.repeats});
    for (auto& [place, fit] : run.fits) recorded.fits.push_back(std::move(fit).finish());
  }
  return result;
}

DigestFile digest_records(const std::filesystem::path& file, const ReadProgress& progress) {
  DigestFile result;
  for (auto& [id, run] : read_runs<DigestedFit>(file, result.note, progress)) {
    DigestedRun& digested = result.runs.emplace_back(
        DigestedRun{id, {}, run.planned, run.repeats, run.fixed_iterations});
    digested.fits.reserve(run.fits.size());
    // Moved one by one, since a million fits must not be in memory twice.
    while (!run.fits.empty()) {
      digested.fits.push_back(std::move(run.fits.begin()->second).finish());
      run.fits.erase(run.fits.begin());
    }
  }
  return result;
}

}  // namespace lloyd::experiment
