// Files of records: each record must survive the round trip through its text, and each run must
// yield a summary and a page.
#include <optional>

#include "experiment/record/record_reader.hpp"
#include "experiment/summary/summary.hpp"
#include "fuzz.hpp"
#include "report/page.hpp"
#include "report/page_data.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  using namespace lloyd::experiment;
  static const fuzz::InputFile input;
  std::optional<RecordFile> file;
  fuzz::expect_refusal_or(
      [&] { file.emplace(read_records(input.hold(fuzz::text_of(data, size)))); });
  if (!file) return 0;
  if (!file->note.empty()) fuzz::check_line(file->note);
  for (const RecordedRun& run : file->runs) {
    for (const auto& fit : run.fits) {
      for (const Record& record : fit) {
        const std::string text = to_json(record).dump();
        const Record again = record_from_json(nlohmann::ordered_json::parse(text));
        fuzz::require(to_json(again).dump() == text, "a record does not come back from its text");
      }
    }
    const Summary summary = summarize(run.fits);
    fuzz::check_lines(summary_table(summary));
    summary_csv(summary);
    summary_json(summary, "folder").dump();
    const std::string page = report::script_json(report::page_data(run, "records", "", nullptr));
    fuzz::require(page.find('<') == std::string::npos, "the page's data could end its element");
  }
  return 0;
}
