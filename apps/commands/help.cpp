// lloyd help, man and completion: describe the commands, for people and for shells.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "commands/commands.hpp"
#include "manual/command_description.hpp"
#include "manual/completion.hpp"
#include "manual/man_page.hpp"
#include "output/output.hpp"

namespace lloyd::apps {
namespace {

// A command, and the name that its help shows, such as "lloyd data blobs".
struct NamedCommand {
  const CLI::App* command = nullptr;
  std::string name;
};

// Throws InputError if there is no such command.
NamedCommand find_command(const CLI::App& program, const std::vector<std::string>& path) {
  NamedCommand found{&program, program.get_name()};
  for (const std::string& word : path) {
    const CLI::App* next = nullptr;
    std::vector<std::string> known;
    for (const CLI::App* inner : found.command->get_subcommands(nullptr)) {
      if (inner->get_group().empty()) continue;  // hidden
      known.push_back(inner->get_name());
      if (inner->get_name() == word) next = inner;
    }
    if (next == nullptr) {
      const std::string of =
          found.command == &program ? "" : fmt::format(" of '{}'", found.command->get_name());
      throw InputError(
          fmt::format("unknown subcommand '{}'{}{}", word, of, suggestion(word, known)));
    }
    found = {next, found.name + " " + word};
  }
  return found;
}

int print_help(const CLI::App& program, const std::vector<std::string>& path) {
  const NamedCommand found = find_command(program, path);
  // App::help() would print the help of 'help' itself, the command that was parsed.
  print_text("{}", program.get_formatter()->make_help(found.command, found.name,
                                                      CLI::AppFormatMode::Normal));
  return kDone;
}

int write_pages(const CommandDescription& program, const std::filesystem::path& folder) {
  make_folder(folder);
  for (const CommandDescription* command : all_commands(program)) {
    NewFile page(folder / (page_name(*command) + ".1"));
    page.write(man_page(*command, program));
    page.commit();
  }
  return kDone;
}

int print_page(const CLI::App& app, const std::vector<std::string>& path) {
  find_command(app, path);
  const CommandDescription program = describe_command(app);
  for (const CommandDescription* command : all_commands(program)) {
    if (command->path == path) print_text("{}", man_page(*command, program));
  }
  return kDone;
}

}  // namespace

void add_help_commands(CLI::App& app, Context& context) {
  auto* help = app.add_subcommand("help", "Describe a command and its options");
  auto path = std::make_shared<std::vector<std::string>>();
  help->add_option("COMMAND", *path, "The command, such as 'fit' or 'data blobs'");
  help->callback(
      [&app, &context, path] { context.action = [&app, path] { return print_help(app, *path); }; });

  auto* man = app.add_subcommand("man", "Print the man page of a command");
  auto folder = std::make_shared<std::filesystem::path>();
  auto* page = man->add_option("COMMAND", *path, "The command, such as 'fit' or 'data blobs'");
  man->add_option("-o,--output", *folder, "Write the pages of all commands into this folder")
      ->excludes(page);
  man->callback([&app, &context, path, folder] {
    context.action = [&app, path, folder] {
      return folder->empty() ? print_page(app, *path)
                             : write_pages(describe_command(app), absolute_path(*folder));
    };
  });

  auto* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&app, &context, shell] {
    context.action = [&app, shell] {
      print_text("{}", completion_script(*shell, describe_command(app)));
      return kDone;
    };
  });
}

}  // namespace lloyd::apps
