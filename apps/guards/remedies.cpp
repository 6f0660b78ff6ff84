#include "guards/remedies.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/internal/column_argument.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/shell_word.hpp>
#include <lloyd/internal/shown.hpp>

#include "guards/totals_row.hpp"
#include "options/option_names.hpp"
#include "text/names.hpp"

namespace lloyd::apps {

std::string column_text(const std::vector<std::string>& names, const DataOptions& options,
                        std::int64_t feature) {
  const std::string text = names.empty() ? "" : names[static_cast<std::size_t>(feature)];
  return text.empty() || std::count(names.begin(), names.end(), text) > 1
             ? fmt::format("column {}", options.column_of(feature))
             : fmt::format("'{}'", shown(text));
}

std::string_view float64_option(Remedy remedy) {
  return remedy == Remedy::key ? "'dataset.dtype: float64'" : "--dtype float64";
}

bool Remedies::is_text() const {
  return find_format(options_.file) == FileFormat::csv;
}

std::string Remedies::name(std::int64_t feature) const {
  return column_text(names(), options_, feature);
}

std::string Remedies::option_value(std::int64_t feature) const {
  return column_argument(names(), static_cast<std::size_t>(feature), options_.column_of(feature));
}

std::string Remedies::drop_advice(std::int64_t feature, std::string_view what) const {
  return drop_advice(std::vector<std::string>{option_value(feature)}, what);
}

std::string Remedies::drop_advice(const std::vector<std::string>& columns,
                                  std::string_view what) const {
  // Those that are left out already must be named too.
  std::vector<std::string> arguments = options_.drop_columns;
  arguments.insert(arguments.end(), columns.begin(), columns.end());
  const std::string option = fmt::format("--drop-columns{}", option_list(arguments));
  if (!names_keys()) return fmt::format("{} leaves {} out", option, what);
  return is_text()
             ? fmt::format("'dataset.drop_columns: [{}]' leaves {} out", yaml_list(arguments), what)
             : fmt::format("'lloyd data convert {}' leaves {} out", option, what);
}

std::string Remedies::choice_without(const std::vector<std::string>& columns) const {
  return fmt::format("leave {} out of {}", enumerated(columns, "and"),
                     names_keys() ? "'dataset.columns'" : "--columns");
}

std::string Remedies::choice_with(const std::string& column) const {
  constexpr std::int64_t kMaxNamed = 10;
  if (dataset_.features() > kMaxNamed) {
    return fmt::format("{} reads the columns that it names as numbers",
                       names_keys() ? "'dataset.columns'" : "--columns");
  }
  std::vector<std::string> columns;
  for (std::int64_t j = 0; j < dataset_.features(); ++j) columns.push_back(option_value(j));
  columns.push_back(column);
  return names_keys()
             ? fmt::format("'dataset.columns: [{}]' reads it as numbers", yaml_list(columns))
             : fmt::format("--columns{} reads it as numbers", option_list(columns));
}

std::string Remedies::label_advice(std::int64_t feature) const {
  const std::string value = option_value(feature);
  return names_keys() ? fmt::format("'dataset.label_column: {}'", yaml_list({value}))
                      : fmt::format("--label-column{}", option_list({value}));
}

std::string Remedies::advice_on_last_row() const {
  const std::vector<std::int64_t>& dropped = dataset_.dropped_row_numbers;
  const std::int64_t rows = dataset_.samples() + dataset_.dropped_rows;
  const bool ends_file = dropped.empty() ? dataset_.dropped_rows == 0 : dropped.back() < rows - 1;
  if (!ends_file || !is_text() || lower_case_extension(options_.file).ends_with(".gz")) {
    return "leave it out";
  }
  const std::string file = shell_word(options_.file);
  const std::optional<std::int64_t> blank = count_blank_lines_at_end(options_.file);
  if (!blank) return "leave it out";
  return *blank == 0 ? fmt::format("sed '$d' {} > NEW.csv leaves it out", file)
                     : fmt::format("head -n -{} {} > NEW.csv leaves it out with the {} below it",
                                   *blank + 1, file, format_count(*blank, "blank line"));
}

}  // namespace lloyd::apps
