#include "manual/command_description.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lloyd::apps {
namespace {

// The words of "TEXT:{csv,npy}", as CLI11 describes an option whose values are enumerated.
std::vector<std::string> enumerated_choices(std::string_view type) {
  std::vector<std::string> choices;
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin == std::string_view::npos ? 0 : begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return choices;
  std::string_view list = type.substr(begin + 1, end - begin - 1);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    choices.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return choices;
}

ArgumentDescription describe_argument(const CLI::Option& option) {
  ArgumentDescription argument;
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  if (argument.names.empty()) argument.names.push_back(option.get_name(true));
  argument.takes_value = option.get_items_expected_max() > 0;
  const std::string type = option.get_type_name();
  argument.takes_folder = type.find("DIR") != std::string::npos;
  argument.choices = enumerated_choices(type);
  argument.required = option.get_required();
  argument.text = option.get_description();
  if (argument.takes_value) argument.fallback = option.get_default_str();
  return argument;
}

CommandDescription describe(const CLI::App& app, std::vector<std::string> path) {
  CommandDescription command;
  command.text = app.get_description();
  command.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    (option->nonpositional() ? command.options : command.positionals)
        .push_back(describe_argument(*option));
  }
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (sub->get_group().empty()) continue;  // hidden
    std::vector<std::string> inner = path;
    inner.push_back(sub->get_name());
    command.commands.push_back(describe(*sub, std::move(inner)));
  }
  command.path = std::move(path);
  return command;
}

void append_commands(const CommandDescription& command,
                     std::vector<const CommandDescription*>& list) {
  list.push_back(&command);
  for (const CommandDescription& inner : command.commands) append_commands(inner, list);
}

}  // namespace

std::string CommandDescription::name() const {
  return fmt::format("{}", fmt::join(path, " "));
}

CommandDescription describe_command(const CLI::App& app) {
  return describe(app, {});
}

std::vector<const CommandDescription*> all_commands(const CommandDescription& command) {
  std::vector<const CommandDescription*> list;
  append_commands(command, list);
  return list;
}

}  // namespace lloyd::apps
