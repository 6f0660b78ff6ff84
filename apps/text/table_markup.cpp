// Tables as Markdown and LaTeX.
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <lloyd/internal/status_text.hpp>

#include "text/table.hpp"

namespace lloyd::experiment {

std::string escape_markdown(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\' || c == '<' || c == '*' || c == '_' || c == '`') result += '\\';
    result += c;
  }
  return result;
}

std::string escape_latex(const std::string& text) {
  constexpr std::array<std::pair<char, std::string_view>, 12> kEscapes = {
      {{'\\', "\\textbackslash{}"},
       {'~', "\\textasciitilde{}"},
       {'^', "\\textasciicircum{}"},
       {'<', "\\textless{}"},
       {'>', "\\textgreater{}"},
       {'&', "\\&"},
       {'%', "\\%"},
       {'$', "\\$"},
       {'#', "\\#"},
       {'_', "\\_"},
       {'{', "\\{"},
       {'}', "\\}"}}};
  std::string result;
  for (const char c : printable(text)) {
    std::string_view written(&c, 1);
    for (const auto& [special, escape] : kEscapes) {
      if (c == special) written = escape;
    }
    result += written;
  }
  return result;
}

std::vector<std::string> Table::cells_of(const Row& row) const {
  std::vector<std::string> cells = row.cells;
  if (row.text.empty()) return cells;
  cells.push_back(row.text);
  cells.resize(columns_.size() - row.last_cells.size());
  cells.insert(cells.end(), row.last_cells.begin(), row.last_cells.end());
  return cells;
}

std::string Table::markdown() const {
  std::string text = "|";
  std::string rule = "|";
  for (const Column& column : columns_) {
    text += fmt::format(" {} |", escape_markdown(column.header));
    rule += column.right ? " ---: |" : " --- |";
  }
  text += '\n' + rule + '\n';
  for (const Row& row : rows_) {
    text += '|';
    for (const std::string& cell : cells_of(row))
      text += fmt::format(" {} |", escape_markdown(cell));
    text += '\n';
  }
  return text;
}

std::string Table::latex() const {
  std::string alignment;
  std::string headers;
  for (const Column& column : columns_) {
    alignment += column.right ? 'r' : 'l';
    headers += fmt::format("{}{}", headers.empty() ? "" : " & ", escape_latex(column.header));
  }
  std::string text =
      fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n{} \\\\\n\\midrule\n", alignment, headers);
  for (const Row& row : rows_) {
    std::string line;
    for (const std::string& cell : row.cells) {
      line += fmt::format("{}{}", &cell == row.cells.data() ? "" : " & ", escape_latex(cell));
    }
    if (!row.text.empty()) {
      const std::size_t span = columns_.size() - row.cells.size() - row.last_cells.size();
      line += fmt::format("{}\\multicolumn{{{}}}{{l}}{{{}}}", row.cells.empty() ? "" : " & ", span,
                          escape_latex(row.text));
      for (const std::string& cell : row.last_cells) line += " & " + escape_latex(cell);
    }
    text += line + " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace lloyd::experiment
