#include "options/option_names.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace lloyd::apps {
namespace {

struct OptionName {
  std::string_view library;
  std::string_view option;
  std::string_view key;
};

constexpr std::array<OptionName, 13> kOptionNames = {
    {{"the delimiter option", "--delimiter", "'dataset.delimiter'"},
     {"the header option", "--header or --no-header", "'dataset.header'"},
     {"the columns option", "--columns", "'dataset.columns'"},
     {"the drop_columns option", "--drop-columns", "'dataset.drop_columns'"},
     {"the drop_missing option", "--drop-missing", "'dataset.drop_missing'"},
     {"the missing option", "--missing", "'dataset.missing'"},
     {"the decimal_comma option", "--decimal-comma", "'dataset.decimal_comma'"},
     {"the label_column option", "--label-column", "'dataset.label_column'"},
     {"the dtype option", "--dtype", "'dataset.dtype'"},
     {"a dtype of float32", "--dtype float32", "'dataset.dtype: float32'"},
     {"the dataset option", "--dataset", "'dataset.dataset'"},
     {"the option 'dataset'", "--dataset", "'dataset.dataset'"},
     {"copy_file()", "'lloyd data convert'", "'lloyd data convert'"}}};

constexpr std::array<OptionName, 5> kFurtherKeys = {
    {{"", "--drop-columns", "'dataset.drop_columns'"},
     {"", "--columns", "'dataset.columns'"},
     {"", "--label-column", "'dataset.label_column'"},
     {"", "--drop-missing", "'dataset.drop_missing'"},
     {"", "--decimal-comma", "'dataset.decimal_comma'"}}};

// A setting of CsvOptions: its values stand, each in quotes, between `begin` and `end`.
struct Setting {
  std::string_view begin;
  std::string_view end;
  std::string_view option;
  std::string_view key;
};

// "drop_columns" comes before "columns", whose pattern also matches its end.
constexpr std::array<Setting, 4> kSettings = {
    {{"drop_columns = {\"", "\"}", "--drop-columns {}", "'dataset.drop_columns: [{}]'"},
     {"columns = {\"", "\"}", "--columns {}", "'dataset.columns: [{}]'"},
     {"missing = {\"", "\"}", "--missing {}", "'dataset.missing: [{}]'"},
     {"label_column = \"", "\"", "--label-column {}", "'dataset.label_column: {}'"}}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

// Replaces a setting by `form` with the values, between which `separator` stands.
void replace_setting(std::string& text, const Setting& setting, std::string_view form,
                     std::string_view separator) {
  const std::size_t at = text.rfind(setting.begin);
  if (at == std::string::npos) return;
  const std::size_t first = at + setting.begin.size();
  const std::size_t end = text.find(setting.end, first);
  if (end == std::string::npos) return;
  std::string values = text.substr(first, end - first);
  replace_all(values, "\", \"", separator);
  text.replace(at, end + setting.end.size() - at, fmt::format(fmt::runtime(form), values));
}

}  // namespace

std::string with_option_names(std::string message) {
  for (const OptionName& name : kOptionNames) replace_all(message, name.library, name.option);
  for (const Setting& setting : kSettings) replace_setting(message, setting, setting.option, ",");
  return message;
}

std::string with_key_names(std::string message) {
  for (const OptionName& name : kOptionNames) replace_all(message, name.library, name.key);
  for (const Setting& setting : kSettings) replace_setting(message, setting, setting.key, ", ");
  for (const OptionName& name : kFurtherKeys) replace_all(message, name.option, name.key);
  return message;
}

}  // namespace lloyd::apps
