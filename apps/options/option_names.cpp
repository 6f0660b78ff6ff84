#include "options/option_names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/internal/shell_word.hpp>

namespace lloyd::apps {
namespace {

struct OptionName {
  std::string_view library;
  std::string_view option;
  std::string_view key;
};

constexpr std::array<OptionName, 19> kOptionNames = {
    {{"';' separates the cells, set the delimiter option",
      "';' separates the cells, set --delimiter ';'",
      "';' separates the cells, set 'dataset.delimiter: \";\"'"},
     {"'|' separates the cells, set the delimiter option",
      "'|' separates the cells, set --delimiter '|'",
      "'|' separates the cells, set 'dataset.delimiter: \"|\"'"},
     {"tabs separate the cells, set the delimiter option",
      "tabs separate the cells, set --delimiter tab",
      "tabs separate the cells, set 'dataset.delimiter: tab'"},
     {"blanks separate the cells, set the delimiter option",
      "blanks separate the cells, set --delimiter ' '",
      "blanks separate the cells, set 'dataset.delimiter: \" \"'"},
     {"the delimiter option", "--delimiter", "'dataset.delimiter'"},
     {"the header option", "--header or --no-header", "'dataset.header'"},
     {"the columns option", "--columns", "'dataset.columns'"},
     {"the drop_columns option", "--drop-columns", "'dataset.drop_columns'"},
     {"the drop_missing option", "--drop-missing", "'dataset.drop_missing'"},
     {"the missing option", "--missing", "'dataset.missing'"},
     {"the decimal_comma option", "--decimal-comma", "'dataset.decimal_comma'"},
     {"the label_column option", "--label-column", "'dataset.label_column'"},
     {"the thousands option", "--thousands", "'dataset.thousands'"},
     {"the dtype option", "--dtype", "'dataset.dtype'"},
     {"a dtype of float32", "--dtype float32", "'dataset.dtype: float32'"},
     {"the dataset option", "--dataset", "'dataset.dataset'"},
     {"the option 'dataset'", "--dataset", "'dataset.dataset'"},
     {"give it an extension of text", "rename it to .csv, or give it as standard input: - < FILE",
      "rename it to .csv"},
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
  bool is_list;
};

// "drop_columns" comes before "columns", whose pattern also matches its end.
constexpr std::array<Setting, 6> kSettings = {
    {{"drop_columns = {\"", "\"}", "--drop-columns", "dataset.drop_columns", true},
     {"columns = {\"", "\"}", "--columns", "dataset.columns", true},
     {"missing = {\"", "\"}", "--missing", "dataset.missing", true},
     {"label_column = \"", "\"", "--label-column", "dataset.label_column", false},
     {"thousands = \"", "\"", "--thousands", "dataset.thousands", false},
     {"delimiter = \"", "\"", "--delimiter", "dataset.delimiter", false}}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

std::vector<std::string> split_values(std::string_view text) {
  constexpr std::string_view kSeparator = "\", \"";
  std::vector<std::string> values;
  for (;;) {
    const std::size_t end = text.find(kSeparator);
    values.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return values;
    text.remove_prefix(end + kSeparator.size());
  }
}

// Replaces a setting by the option or the key with its values.
void replace_setting(std::string& text, const Setting& setting, bool by_key) {
  const std::size_t at = text.rfind(setting.begin);
  if (at == std::string::npos) return;
  const std::size_t first = at + setting.begin.size();
  const std::size_t end = text.find(setting.end, first);
  if (end == std::string::npos) return;
  const std::vector<std::string> values = split_values(text.substr(first, end - first));
  const std::string list = yaml_list(values);
  const std::string form = by_key ? fmt::format("'{}: {}'", setting.key,
                                                setting.is_list ? fmt::format("[{}]", list) : list)
                                  : fmt::format("{}{}", setting.option, option_list(values));
  text.replace(at, end + setting.end.size() - at, form);
}

// True if YAML takes the text as a text, a number or a date without quotes.
bool is_plain_in_yaml(std::string_view text) {
  constexpr std::array<std::string_view, 8> kWords = {"true", "false", "yes",  "no",
                                                      "on",   "off",   "null", "~"};
  const auto is_alphanumeric = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (std::find(kWords.begin(), kWords.end(), lower) != kWords.end()) return false;
  const bool negative = text.starts_with('-') && text.size() > 1;
  const std::string_view rest = text.substr(negative ? 1 : 0);
  return !rest.empty() && (is_alphanumeric(rest.front()) || (!negative && rest.front() == '_')) &&
         std::all_of(rest.begin(), rest.end(), [&](char c) {
           return is_alphanumeric(c) || std::string_view("_.+-/").find(c) != std::string_view::npos;
         });
}

}  // namespace

std::string with_option_names(std::string message) {
  for (const OptionName& name : kOptionNames) replace_all(message, name.library, name.option);
  for (const Setting& setting : kSettings) replace_setting(message, setting, false);
  return message;
}

std::string with_key_names(std::string message) {
  for (const OptionName& name : kOptionNames) replace_all(message, name.library, name.key);
  for (const Setting& setting : kSettings) replace_setting(message, setting, true);
  for (const OptionName& name : kFurtherKeys) replace_all(message, name.option, name.key);
  return message;
}

std::string option_list(const std::vector<std::string>& elements) {
  const std::string list = fmt::format("{}", fmt::join(elements, ","));
  return (list.starts_with('-') ? "=" : " ") + shell_word(list);
}

std::string yaml_list(const std::vector<std::string>& elements) {
  std::vector<std::string> texts;
  for (const std::string& element : elements) {
    texts.push_back(is_plain_in_yaml(element) ? element : fmt::format("\"{}\"", element));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace lloyd::apps
