// CSV tables: the first byte selects options, the rest is the file. An accepted table must survive
// writing and rereading.
#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <lloyd/data/csv.hpp>

#include "data/csv/cells/csv_cell_kind.hpp"
#include "data/csv/cells/csv_cursor.hpp"
#include "fuzz.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::fuzz {
namespace {

// Bits of the first byte; '@' sets none of them.
enum Choice : unsigned {
  kFloat64 = 0x01,
  kHeader = 0x02,
  kNoHeader = 0x04,
  kDelimiter = 0x08,    // the next byte is the delimiter
  kColumns = 0x10,      // the next line holds comma-separated column names
  kLabelColumn = 0x20,  // the line after that names the label column
  kRepairs = 0x80,      // drop rows with missing values; decimal commas
};

std::string take_line(std::string_view& text) {
  std::string line(text.substr(0, text.find('\n')));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

CsvOptions take_options(std::string_view& text) {
  CsvOptions options;
  if (text.empty()) return options;
  const auto choice = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if ((choice & kFloat64) != 0) options.dtype = DType::float64;
  if ((choice & kHeader) != 0) options.header = true;
  if ((choice & kNoHeader) != 0) options.header = false;
  if ((choice & kDelimiter) != 0 && !text.empty()) {
    options.delimiter = text.front();
    text.remove_prefix(1);
  }
  if ((choice & kColumns) != 0) {
    std::string line = take_line(text);
    for (std::size_t comma = 0; comma != std::string::npos;) {
      comma = line.find(',');
      options.columns.push_back(line.substr(0, comma));
      if (comma != std::string::npos) line.erase(0, comma + 1);
    }
  }
  if ((choice & kLabelColumn) != 0) options.label_column = take_line(text);
  options.drop_missing = options.decimal_comma = (choice & kRepairs) != 0;
  return options;
}

void check_same(const Dataset& a, const Dataset& b) {
  require(a.samples() == b.samples() && a.features() == b.features() && a.dtype() == b.dtype(),
          "a table has another shape after writing and reading it");
  const auto bytes = static_cast<std::size_t>(a.samples() * a.features() * size_of(a.dtype()));
  require(std::memcmp(a.matrix().data, b.matrix().data, bytes) == 0,
          "a table has other values after writing and reading it");
  require(a.classes == b.classes, "a table has other classes after writing and reading it");
  require(a.feature_names == b.feature_names,
          "a table has other names after writing and reading it");
}

// True if the quoted classes may be read as values: see CsvOptions::label_column.
bool may_be_values(const std::vector<std::string>& classes) {
  constexpr std::size_t kMaxClasses = 20;
  const std::set<std::string> distinct(classes.begin(), classes.end());
  bool has_fraction = false;
  for (const std::string& text : distinct) {
    if (is_missing_value(text)) continue;
    if (!is_number(trimmed(text))) return false;
    has_fraction = has_fraction || text.find_first_of(".eE") != std::string::npos;
  }
  return has_fraction || distinct.size() > kMaxClasses;
}

// Rereading refuses two kinds of tables unless an option tells how to read them: an unnamed first
// column may be row numbers, and quotes around a comma do not make a cell a class. Classes that are
// numbers may be read as values.
bool needs_option(const Dataset& dataset) {
  const auto has_comma = [](const std::string& text) {
    return text.find(',') != std::string::npos;
  };
  const std::vector<std::string>& names = dataset.feature_names;
  return (!names.empty() && names.front().empty()) ||
         std::any_of(dataset.classes.begin(), dataset.classes.end(), has_comma) ||
         may_be_values(dataset.classes);
}

}  // namespace
}  // namespace lloyd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  static const fuzz::InputFile input;
  static const TemporaryFolder folder;
  std::string_view text = fuzz::text_of(data, size);
  const CsvOptions options = fuzz::take_options(text);
  std::optional<Dataset> dataset;
  fuzz::expect_refusal_or([&] { dataset.emplace(read_csv(input.hold(text), options)); });
  if (!dataset || fuzz::needs_option(*dataset)) return 0;
  const std::filesystem::path copy = folder.path() / "copy.csv";
  write_csv(copy, *dataset);
  CsvOptions plain;
  plain.dtype = options.dtype;
  // Set explicitly, because a first sample such as 0, 1, 2 may look like a header.
  plain.header = !dataset->feature_names.empty();
  fuzz::check_same(*dataset, read_csv(copy, plain));
  return 0;
}
