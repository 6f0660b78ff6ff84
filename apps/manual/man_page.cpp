#include "manual/man_page.hpp"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lloyd::apps {
namespace {

// Escapes a text that is part of a line: backslashes and hyphens have a meaning for troff.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

// Escapes a text that begins lines, of which those that begin with '.' or an apostrophe would be
// requests.
std::string roff_lines(std::string_view text) {
  std::string result = "\\&";
  for (const char c : roff(text)) {
    result += c;
    if (c == '\n') result += "\\&";
  }
  return result;
}

std::string value_of(const ArgumentDescription& argument) {
  if (!argument.choices.empty()) return fmt::format("{}", fmt::join(argument.choices, "|"));
  return argument.takes_folder ? "FOLDER" : "VALUE";
}

std::string synopsis(const CommandDescription& command) {
  std::string line = fmt::format(".B lloyd {}\n", roff(command.name()));
  if (!command.commands.empty()) line += ".I COMMAND\n";
  for (const ArgumentDescription& argument : command.positionals) {
    const std::string name = roff(argument.names.front());
    line += argument.required ? fmt::format(".I {}\n", name) : fmt::format(".RI [ {} ]\n", name);
  }
  return line + ".RI [ OPTIONS ]\n";
}

std::string paragraph(const ArgumentDescription& argument) {
  std::string heading;
  for (const std::string& name : argument.names) {
    heading += (heading.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  }
  const bool is_option = argument.names.front().starts_with('-');
  if (is_option && argument.takes_value) heading += " \\fI" + roff(value_of(argument)) + "\\fR";
  std::string text = roff_lines(argument.text);
  if (!argument.fallback.empty()) text += fmt::format(" [{}]", roff(argument.fallback));
  return fmt::format(".TP\n{}\n{}\n", heading, text);
}

std::string section(const char* title, const std::vector<ArgumentDescription>& arguments) {
  if (arguments.empty()) return {};
  std::string text = fmt::format(".SH {}\n", title);
  for (const ArgumentDescription& argument : arguments) text += paragraph(argument);
  return text;
}

}  // namespace

std::string page_name(const CommandDescription& command) {
  return command.path.empty() ? "lloyd" : fmt::format("lloyd-{}", fmt::join(command.path, "-"));
}

std::string man_page(const CommandDescription& command, const CommandDescription& program) {
  const std::string name = page_name(command);
  std::string text =
      fmt::format(".TH \"{}\" 1 \"\" \"Lloyd {}\" \"Lloyd manual\"\n", roff(name), LLOYD_VERSION);
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}", roff(name), roff(command.text),
                      synopsis(command));
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const CommandDescription& inner : command.commands) {
      text +=
          fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(page_name(inner)), roff_lines(inner.text));
    }
  }
  text += section("ARGUMENTS", command.positionals);
  text += section("OPTIONS", command.options);
  if (&command != &program) text += section("OPTIONS OF ALL COMMANDS", program.options);
  if (!command.footer.empty()) {
    text += fmt::format(".SH NOTES\n{}\n", roff_lines(command.footer));
  }
  text += ".SH EXIT STATUS\n";
  text += ".TP\n\\fB0\\fR\nThe command succeeded.\n";
  text += ".TP\n\\fB1\\fR\nIt failed.\n";
  text += ".TP\n\\fB2\\fR\nAn option, a file or another input is invalid; the message names it.\n";
  text += ".TP\n\\fB3\\fR\nTrials were skipped, and \\-\\-fail\\-if\\-skipped was given.\n";
  text += ".TP\n\\fB130\\fR\nIt was interrupted.\n";
  if (!command.path.empty()) text += ".SH SEE ALSO\n.BR lloyd (1)\n";
  return text;
}

}  // namespace lloyd::apps
