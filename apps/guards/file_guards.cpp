#include "guards/file_guards.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/shell_word.hpp>
#include <lloyd/internal/shown.hpp>

#include "guards/inspected_rows.hpp"
#include "text/names.hpp"

namespace lloyd::apps {
namespace {

// `features`: d.
template <class Data>
std::vector<std::string> warnings_of_header(const Data& data, std::int64_t features,
                                            const DataOptions& options, Remedy remedy) {
  if (find_format(options.file) != FileFormat::csv || options.header || options.no_header ||
      !data.feature_names.empty()) {
    return {};
  }
  const InspectedRows rows(data);
  if (!has_numeric_header(rows, features)) return {};
  return {fmt::format(
      "{}: the first row, {}{}{}, looks like a header, but is taken as a sample; {} takes it as "
      "names, {} says that it is a sample",
      options.file, rows.at(0, 0), features > 1 ? fmt::format(", {}", rows.at(0, 1)) : "",
      features > 2 ? ", ..." : "", remedy == Remedy::key ? "'dataset.header: true'" : "--header",
      remedy == Remedy::key ? "'dataset.header: false'" : "--no-header")};
}

}  // namespace

std::vector<std::string> header_warnings(const Dataset& dataset, const DataOptions& options,
                                         Remedy remedy) {
  return warnings_of_header(dataset, dataset.features(), options, remedy);
}

std::vector<std::string> header_warnings(const CopiedRows& copied, const DataOptions& options,
                                         Remedy remedy) {
  return warnings_of_header(copied, copied.features, options, remedy);
}

std::vector<std::string> encoding_warnings(const std::vector<std::string>& names,
                                           const DataOptions& options) {
  if (find_format(options.file) != FileFormat::csv) return {};
  const auto name = std::find_if(names.begin(), names.end(),
                                 [](const std::string& text) { return utf8_text(text) != text; });
  if (name == names.end()) return {};
  const bool compressed = lower_case_extension(options.file).ends_with(".gz");
  // Latin-1 has only control characters where Windows-1252 has the euro sign and quotation marks.
  const bool is_windows = std::any_of(names.begin(), names.end(), [](const std::string& text) {
    return utf8_text(text) != text && std::any_of(text.begin(), text.end(), [](char c) {
             return static_cast<unsigned char>(c) >= 0x80 && static_cast<unsigned char>(c) < 0xa0;
           });
  });
  const char* const command = is_windows ? "iconv -f cp1252 -t utf-8" : "iconv -f latin1 -t utf-8";
  const std::string file = shell_word(options.file);
  return {fmt::format("{}: the name '{}' is not UTF-8; if the file is {}, {} > NEW.csv converts it",
                      options.file, shown(*name), is_windows ? "Windows-1252" : "Latin-1",
                      compressed ? fmt::format("gunzip -c {} | {}", file, command)
                                 : fmt::format("{} {}", command, file))};
}

std::vector<std::string> unused_missing_warnings(const std::vector<std::string>& texts,
                                                 const DataOptions& options, Remedy remedy) {
  std::vector<std::string> warnings;
  for (const std::string& text : texts) {
    warnings.push_back(fmt::format(
        "{}: {} has '{}', but no cell of a feature has this text; check its spelling", options.file,
        remedy == Remedy::key ? "'dataset.missing'" : "--missing", shown(text)));
  }
  return warnings;
}

std::string rounding_warning(const std::string& file, const std::string& feature,
                             const RoundingLoss& loss, const std::string& float64_advice) {
  const std::string effect =
      loss.deviation == 0 ? "which makes them equal"
                          : fmt::format("while its standard deviation is {:.3g}", loss.deviation);
  const std::string advice =
      loss.exact_in_float64
          ? float64_advice
          : "float64 holds integers up to 2^53, so subtract a constant from them, such as their "
            "minimum, before the file is written";
  return fmt::format("{}: rounding to {} changes the values of {} by up to {:.3g}, {}; {}", file,
                     to_string(loss.dtype), feature, loss.error, effect, advice);
}

std::vector<std::string> rounding_warnings(std::span<const RoundingLoss> losses,
                                           const std::vector<std::string>& feature_names,
                                           const DataOptions& options, Remedy remedy) {
  const std::string advice = fmt::format("{} keeps the values", float64_option(remedy));
  std::vector<std::string> warnings;
  for (const RoundingLoss& loss : losses) {
    warnings.push_back(rounding_warning(
        options.file, column_text(feature_names, options, loss.feature), loss, advice));
  }
  return warnings;
}

}  // namespace lloyd::apps
